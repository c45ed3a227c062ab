"""Where a protocol meets the world: files, processes, another protocol's record. No rules here.

presence/    a name and its key in the registry, and the agent behind it in presence
mail/        sending and reading, notices in two records at once, research threads
debate/      a session's file and its record, written in one step and held against each other
parliament/  the four files that follow the record, and a session that runs by itself
trace/       an intent really run, what was left of it, whether it is true; what hooks saw
decision/    a question put to participants, and a person's word on what came out

joins/       from one protocol to the next, step by step, each step once
desks/       what is due becomes a brief, words become a command: one desk a protocol
receipts/    a decision as a file that proves itself
reports.py   the page of anything that has an id
"""
