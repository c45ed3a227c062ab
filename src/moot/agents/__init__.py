"""Participants: who takes a turn, and the runner that asks them.

A participant gets a brief and returns a reply; it never writes anything itself. The runner asks a
`Runnable` what is due, gives the brief to the participant concerned, and lets it execute the reply
under that agent's own key. There is one for each protocol, in `flows/runs/`.

    spec.py         `NAME=cmd:claude -p`: text -> Spec
    participant_kinds.py   makes participants of specs
    participant.py  what every participant can do, and what it is (scripted voices say so)
    script.py  rules.py  command.py  llm.py  human.py      the five kinds
    recipes.py      how the usual coding agents are asked, and where their answer stands
    brief.py        what a participant is told; quoting.py: others' words, always as data
    reply.py        finds the JSON reply in any bytes
    runnable.py     what the runner needs of a protocol
    runner.py       agenda -> participant -> execute, until nothing is due or a limit is reached
    budget.py  cost.py  repeats.py  outcome.py             limits, what it cost, how it ended
"""
