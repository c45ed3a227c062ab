"""What a shell command is about to do to files, read from its text alone: nothing is run or asked.

words.py      the text as words and operators, the way a POSIX shell splits it
values.py     what a word stands for: variables, `~`, braces, wildcards; UNKNOWN where only the
              running shell could tell
script.py     the simple commands of a text, each with the folder it runs in
act.py        the noun: a destructive act, and what it reaches
options.py    a program's options and operands
wrappers.py   the program behind `env`, `sudo`, `timeout`
inner_scripts.py  the texts that a command hands to another shell
listed_files.py   files that `find` lists, and what `xargs` is fed
git_acts.py   what git's own commands would destroy
file_acts.py  what `rm`, `mv`, `sed -i`, ... and redirects would write or remove
code_acts.py  code given to an interpreter: only what it names can be told
acts.py       all of it: the destructive acts of a command's text
first_look.py the cheap question beforehand: does this text only read?

A guard rail for agents that mean well: what hides on purpose is not found here.
"""
