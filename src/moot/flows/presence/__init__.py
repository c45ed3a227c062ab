"""Presence and what it needs beside its machine.

arrival.py         a new name comes to work here, and leaves
starting_names.py  a name that somebody had: as it is, adopted, or the next of its family
adoption.py        going on under the name of an earlier session, with evidence from git and beads
new_key.py         a key that is kept before it is registered
admission.py       a person's key that waits for the consent of a person on another machine
ended_keys.py      private keys that nobody may sign with any more
run_evidence.py    is a run gone from this machine? gone_sessions.py ends those that are
everyday.py        the name a person has at a terminal
observation.py     this moment, with the signs of life that were proved
receivers.py       who gets what is sent to a name that has ended
voices.py          who only answers questions
"""
