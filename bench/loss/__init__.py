"""Eight agents and a person work in one repository at the same time: is anybody's work lost, and
is anybody blamed for what somebody else did?

    world.py       the repository, its two worktrees and its agents
    acts.py        what an agent does: tool calls and shell commands, harmless and harmful
    agent.py       one agent as a process: ask the hook, act, tell the end, log the truth
    truth.py       the log of who really wrote what, and when: every write has bytes of its own
    score.py       the log compared with the record, the mail, the copies and git's objects
    page.py        the figures as lines, as a page and as a picture
"""
