"""Mutation testing: one thing at a time is switched off or turned round, and a test must notice.

    sites.py      where a module can be changed, and the module with that one change
    nearest.py    which tests are run for a module, the nearest first
    trial.py      one mutant against its tests, in a copy of `src` outside the working tree
    results.py    what is known so far, kept line by line, and the table
    __main__.py   `make mutants`: the modules that changed, or packages that are named

Every row of a rule table, every field of a shape and every transition is a mutant of its own; of
the lines a sample is drawn, the same one for the same seed.
"""
