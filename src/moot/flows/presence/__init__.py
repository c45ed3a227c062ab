"""Arriving: evidence from outside, then one command."""
