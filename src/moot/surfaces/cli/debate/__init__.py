"""Debates in one markdown file: write, read, prove, run. A workspace is not needed.

lines.py    lines that several debate commands print, and how they read a number
proof.py    `moot debate verify` and `watch`: the file against its record, and the file as
            it grows
reading.py  `moot debate check` to `report`: the commands that only read the file
writing.py  `moot debate new` to `sign`: the commands that write
"""
