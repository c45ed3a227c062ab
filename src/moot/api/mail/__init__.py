"""Mail between agents.

sending.py    messages are sent, or taken in from outside
answers.py    answers: given, still owed, chased when they are overdue
reading.py    inboxes, single messages, threads, search
texts.py      messages as texts, without a workspace: templates, and what is wrong with one
research.py   contributions to a research thread, merged into its artifact
runs.py       mail answered by participants
"""
