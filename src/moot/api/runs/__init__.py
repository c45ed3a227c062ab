"""Runs: participants take their turns until there is a result.

debate.py                runs a debate to its end, and records the result
first_answers.py         collects each participant's own answer, sealed until all have answered
limits.py                arguments and results that all runs share
parliament.py            runs a parliament: participants take the seats, a person decides
parliament_procedure.py  acts as its speaker and its clerk, by the rules of procedure
rankings.py              lets each participant rank the first answers, without names
seats.py                 makes participants and recorded seats from specs
trace.py                 runs a trace: participants play its roles
turns.py                 what the runs of all protocols share: limits, costs, the runner
"""
