"""Mutation testing: one thing at a time is switched off or turned round, and a test must notice.

    sites.py      where a module can be changed, and the module with that one change
    nearest.py    which tests are run for a module, the nearest first
    recording.py  which test runs which line, and how long it takes: seen once
    trial.py      one mutant against its tests, the quickest way that tells the truth
    collected.py  a process that has imported and collected everything; a mutant is a fork of it
    live.py       a mutant in a process that has imported the module already
    fresh.py      tests from the start, in a copy of `src` outside the working tree
    watch.py      how long a test may take, and that the first failure is enough
    results.py    what is known so far, kept line by line, and the table
    __main__.py   `make mutants`: the modules that changed, or packages that are named

Every row of a rule table, every field of a shape and every transition is a mutant of its own; of
the lines a sample is drawn, the same one for the same seed.
"""
