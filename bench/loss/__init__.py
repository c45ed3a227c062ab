"""Is anybody's work lost? Simulated agents and a person share a repository, and each act is real.

    python -m bench.loss                      10,000 steps: table, page, rows as JSON
    python -m bench.loss --steps 500 --seed 7

Eight agents, two of each coding tool, and a person work in three worktrees of one repository. In
each step one of them edits, runs an ordinary command, or does something destructive. The hook is
asked as the tool asks it, and what it allows is really done. What was lost is read from the disk
and from git's objects, never from Moot; what Moot held back is done in a copy of everything, to
see whether it would have harmed anybody.

`repository.py` runs git and moot in a folder of its own, `world.py` is one with agents,
`tool_calls.py` what each tool sends, `asking.py` the hook, `acts.py` and `ordinary.py` what may be
done, `trees.py` reads the disk, `rehearsal.py` does an act in a copy, `truth.py` knows whose bytes
are whose, `record.py` reads what went on record, `simulation.py` takes the steps, `tally.py` adds
them up, `page.py` shows them.
"""
