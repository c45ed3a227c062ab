"""What every command of the command line needs, whatever it is about.

shell.py     one invocation: who acts, where the workspace is, how a function becomes a command
answer.py    what a command gives back, printed as one JSON envelope or as lines for a person
lazy.py      groups that load only the command that was asked for
listing.py, verdict.py, progress.py   tables, verdicts and long work, for people
output.py, page.py   `-o FILE`
typed.py     hints that name what was typed
"""
