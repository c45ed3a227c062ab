"""Benchmarks: each figure beside a raw limit of the same machine, measured in the same minute.

A rate alone says more about the machine than about the program. So every figure is a ratio: ours
to what the disk, SQLite or libsodium can do at all, taken in turns (raw, ours, ours, raw, ...) and
given as the median of the rounds; the spread is where the middle half of the rounds lies.

    python -m bench                   everything, some minutes; the table, and results/latest.json
    python -m bench --quick           the same figures from less work
    python -m bench --only long       figures whose name holds a word
    python -m bench --check           exit 1 if a target is missed

`rounds.py` takes turns, `figure.py` is one row, `table.py` and `results.py` show and keep them,
`ground.py` makes workspaces to measure in, `raw.py` holds the raw limits, and `measures/` has one
file a question.
"""
