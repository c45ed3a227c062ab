"""A trace over real commands.

`tracing.py` is a trace as seen from outside, `execution.py` and `running.py` an intent really run,
`guarded_execution.py` the same for whoever holds what it writes to, `keeping.py` what is stored of
it, `inspection.py` and `auditing.py` whether it is true.
"""
