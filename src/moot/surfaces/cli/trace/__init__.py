"""Provable work: propose, review, run, claim, verify."""
