"""The command line, a contract: names, exit codes and the JSON envelope stay as they are.

`entry.py` is where the process starts, `main.py` the table of commands and the one broad `except`.
Each folder is one subject; what all of them share is in `surfaces/terminal/`.
"""
