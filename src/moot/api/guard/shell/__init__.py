"""What a shell command is about to do to files, read from its text alone: nothing is run or asked.

    act.py          A destructive act: what a command is about to do to which files
    acts.py         the destructive acts of a shell command's text: all that it would do to
                    files, as far as told
    code_acts.py    code that is given to an interpreter with its command: `python -c`, `node
                    -e`, `awk`, a heredoc
    file_acts.py    what programs that write, move or remove files would do to them, by a table
                    of programs
    first_look.py   does a shell command only read?
    git_acts.py     what git's own commands would destroy, by a table of its subcommands
    python_code.py  what Python code that is given with a command would write: parsed, never run
    script.py       the simple commands of a shell text, each with the folder it runs in
    values.py       what a word of a shell command stands for: variables, `~`, braces and
                    wildcards
    wrappers.py     the texts that a command hands to another shell: by `-c`, as a heredoc, by a
                    pipe, to `eval`, `trap`

A guard rail for agents that mean well: what hides on purpose is not found here.
"""
