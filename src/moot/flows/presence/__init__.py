"""Presence and what it needs beside its machine.

arrival.py      coming, going on under an old name, and leaving; evidence from git and beads
observation.py  this moment, with the signs of life that were proved
"""
