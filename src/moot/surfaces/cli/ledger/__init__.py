"""The record as a whole: log, verify, export, backup, doctor, trust, artifacts."""
