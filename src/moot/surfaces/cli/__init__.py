"""The command line, a contract: names, exit codes and the JSON envelope stay as they are.

`main.py` is the door, `lazy.py` loads only the command that is asked for, `shell.py` gives a
command its workspace and prints its answer, and each other file is one family of commands (a
family of many, `ledger` or `demo`, is several files with its name in front).
"""
