"""A trace over real commands.

tracing.py             a trace as seen from outside: its name, who plays a part, its events by id
execution.py           an intent is really run; what died with its process is recorded
run_lock.py            which executions run on this machine right now
guarded_execution.py   nothing runs that writes where its executor holds no reservation
outputs.py             what is stored of a run, without secrets
inspection.py          is a trace true? The bytes are checked, then its own rules
auditing.py            the auditor's run: begun on record, ended with a stored report
"""
