"""The guard: what a coding tool asks before it edits, and what is told to it.

checks.py          may this agent write there?
command_check.py   may this shell command run, by what it would reach
command_verdict.py whose are the files that it would reach
tool_sessions.py   a tool's session, moment by moment: it starts, calls tools, stops, ends
waiting.py         what waits for an agent and has not been shown to it yet
shell_texts.py     the texts that a shell command hands to its programs, such as patches
asked_paths.py     which files are meant by a path
"""
