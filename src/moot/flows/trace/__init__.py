"""A trace over real commands.

`tracing.py` is a trace as seen from outside, `execution.py` and `running.py` an intent really run,
`keeping.py` what is stored of it, `inspection.py` and `auditing.py` whether it is true,
`watching.py` what only a hook saw, `working.py` the participants' turns.
"""
