"""Watched, too: while a `moot run` lives it notices changes of files that others hold.

Hooks say beforehand what a tool is about to do; this is for whatever they do not see. It proves
only that a file changed, and names somebody only where the evidence does.

held_files.py   which files others hold, and the versions they are in
reports.py      an INCURSION, a letter to the holder, a copy of the holder's bytes
watcher.py      the thread of a run that does all this
"""
