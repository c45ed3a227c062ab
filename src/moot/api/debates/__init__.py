"""Debates, each in one markdown file.

reading.py   is the file sound, whose turn is it, do they agree, how did it go?
writing.py   a debate is begun, appended to, moved on, closed
proof.py     the file against its record, and the file as others write it
runs.py      a debate argued by participants
"""
