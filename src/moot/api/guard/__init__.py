"""The guard: what a coding tool asks before it edits, and what is told to it.

checks.py          may this agent write there?
command_check.py   may this shell command run, by what it would reach
command_verdict.py whose are the files that it would reach
tool_sessions.py   a tool's session, moment by moment: it starts, calls tools, stops, ends
sub_agents.py      the sub-agents of a session, which work under an alias of it
after_look.py      after a call: what it changed although others hold it, and what it left
undo.py            bringing back what was in a file
waiting.py         what waits for an agent and has not been shown to it yet
asked_paths.py     which files are meant by a path
"""
