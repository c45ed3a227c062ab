"""Find out what a shell command would do to files, from its text alone; nothing is run.

    act.py          a destructive act: which files, and how
    acts.py         all destructive acts of a shell text
    code_acts.py    code given to an interpreter: `python -c`, `node -e`, `awk`, a heredoc
    file_acts.py    programs that write, move or remove files, by a table
    first_look.py   does a command only read?
    git_acts.py     git's subcommands, by a table
    python_code.py  which files Python code would write
    script.py       split a shell text into simple commands, each with its folder
    values.py       expand variables, `~`, braces and wildcards
    wrappers.py     unwrap `env`, `sudo` and the like; texts for inner shells (`sh -c`, `eval`)

It protects against mistakes. A command that is obfuscated on purpose is not detected.
"""
