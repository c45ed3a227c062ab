"""What every run of participants shows and asks: limits, a live table, a person's seat, its end.

live.py      A run while it goes on: a table on a terminal, plain lines elsewhere; both on
             standard error
running.py   runs of participants: their limits as options, the seat of a person, how a run
             ended
sessions.py  `moot mail run`, `debate run` and `parliament run`: let participants act until
             all is done
"""
