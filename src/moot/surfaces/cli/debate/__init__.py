"""Debates in one markdown file: write, read, prove, run. A workspace is not needed.

lines.py    what `moot debate` says to a person, and how it reads a number
proof.py    `moot debate verify` and `watch`: the file against its record, and the file as
            it grows
reading.py  `moot debate check` to `watch`: what only reads the file
writing.py  `moot debate new` to `run`: the commands that write
"""
