"""Participants: who takes a turn, and the runner that asks them.

    brief.py              what a participant gets: who it is, what to do, what others wrote
    command.py            `cmd:COMMAND`: any program as a participant
    cost.py               what asking costs: tokens, money and time, in whole numbers
    llm.py                `llm:PROVIDER/MODEL`: a model asked directly, through pydantic-ai
    outcome.py            how a call ended, and how a run ended
    participant.py        what every participant does: answer a brief in time, or say why it cannot
    participant_kinds.py  make participants from their specs: one table of kinds
    recipes.py            how to call coding agents without a terminal
    reply.py              find the reply in any bytes: JSON alone, in a fence, or in prose
    runnable.py           what the runner needs from a protocol: what is due, and its brief
    runner.py             ask participants for what is due, execute replies with each agent's key
    scripted.py           `rules:NAME` and `script:FILE`: fixed rules and replies

A participant gets a brief and returns a reply; it never writes anything itself. The runner asks a
`Runnable` what is due, gives the brief to the participant, and lets the `Runnable` execute the
reply with that agent's own key. Each protocol has a `Runnable`, in `api/runs/`.
"""
