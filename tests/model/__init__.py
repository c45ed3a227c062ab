"""Every machine explored from small beginnings: each state it can get into, one step at a time.

    small_world.py  a machine with two or three agents, coarse time, and a short menu of steps
    explorer.py     breadth first through all that the menu can do; a counterexample as commands
    promises.py     what must hold in every state of every machine
    errands.py, registry.py, presence.py, ...   one small world for each machine

`python -m tests.model` explores at least 100,000 states of each machine, or all that there are;
`test_small_worlds.py` explores the first few thousand.
"""
