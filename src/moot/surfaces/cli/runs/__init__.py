"""What every run of participants shows and asks: limits, a live table, questions to a person.

live.py      a run in progress: a table on a terminal, plain lines elsewhere; both on
             standard error
running.py   runs of participants: their limits as options, questions to a person, how a run
             ended
sessions.py  `moot mail run`, `debate run` and `parliament run`: let participants act until
             all is done
"""
