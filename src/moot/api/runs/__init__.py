"""Runs: participants take their turns until something has come out.

debate.py                run a debate to its end, and record what came out
first_answers.py         each says what it would answer alone, all at the same time
limits.py                what every run of participants takes and gives back
parliament.py            run a parliament: participants take the seats, a person decides
parliament_procedure.py  its speaker and its clerk: procedure, and nothing else
rankings.py              each participant orders the first answers without names, and votes
seats.py                 specs become participants, and seats that a record can hold
trace.py                 run a trace: participants play its roles, its own rules run the intents
turns.py                 what the runs of all protocols have in common
"""
