"""Presence and what it needs beside its machine.

arrival.py      a new name comes to work here, and leaves
adoption.py     going on under the name of an earlier session, with evidence from git and beads
new_key.py      a key that is kept before it is registered
observation.py  this moment, with the signs of life that were proved
"""
