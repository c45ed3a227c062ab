"""Where a protocol meets the world: files, processes, another protocol's record. No rules here.

Four levels; each may import those before it and never those behind it.

1. presence/ mail/ debate/ parliament/ trace/    one protocol each, over its record and its files
   observed/    what a hook saw of work that nobody governed, and its gaps
   guard/       which workspace guards a path, who holds it, who acts
   tools/       coding tools: their hooks, settings and trust
   codes/       every code that an error or finding carries, and its explanation
   leftovers/   worktrees and branches that agents left
   launch/      before a program starts: which tool is it, and will our hook run in it?
2. runs/        participants take their turns: what the runner needs of each protocol
3. decisions/   a question, its argument, a person's ruling, its receipt
4. bridges/     from one protocol to the next, step by step, each step once; the story of it all

person_notices.py  the user's own program is told what waits for them
"""
