"""`moot mail run`, `debate run` and `parliament run`: let participants act until all is done.

They are not with their groups because what starts participants takes long to load.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from moot.api.debates import runs as debate_runs
from moot.api.mail import runs as mail_runs
from moot.api.parliaments import runs as parliament_runs
from moot.core.text import plural
from moot.surfaces.cli.debate import lines
from moot.surfaces.cli.presence.agenda import decide_ways
from moot.surfaces.cli.runs.running import ended_line, exit_code, limit_options, running
from moot.surfaces.terminal.answer import visible
from moot.surfaces.terminal.derive import derive


@derive("mail.run", mail_runs.run, """
    --participant NAME=SPEC = participants  Who answers as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, \
        script:FILE, rules:NAME, human.
""", within=running(lambda _values: "mail"), also=limit_options, exits=exit_code)  # fmt: skip
def run_mail(finished: mail_runs.MailRun) -> Iterator[str]:
    """Let participants acknowledge the messages that wait for them, each under its own key.

    Asks only for answers that are owed and were never given; `moot mail tick` reminds receivers
    that stay silent. The record has how each call ended and what it cost.

    Examples:
      moot mail run --participant "amber-otter=cmd:claude -p"
    """
    yield ended_line(finished)
    yield f"{plural(finished.standing['open'], 'message')} still without their answer"


# The wait is the session's own rule, set when it was begun.
_PATIENCE = (
    "Ctrl-C keeps everything, the same command continues; "
    "`--turn-timeout N` of a new session limits this wait"
)


@derive("debate.run", debate_runs.run, """
    FILE:path
    --participant NAME=SPEC = participants  Who speaks as NAME: cmd:COMMAND, llm:PROVIDER/MODEL, \
        script:FILE, rules:NAME, human.
""", within=running(lambda values: values["file"].name, _PATIENCE), also=limit_options,
   exits=exit_code)  # fmt: skip
def run_debate(done: debate_runs.DebateRun) -> Iterator[str]:
    """Let participants argue, turn by turn, until the session is over or a limit is reached.

    Each entry is written in its author's turn and, in a workspace, signed by its author's key. If a
    reply cannot be used, the participant is asked a second time; after that the session's own
    timeout policy decides. After an interruption, run it again: it continues where the file ends.

    Examples:
      moot debate run plan.md --participant "amber-otter=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
      moot debate run plan.md --participant amber-otter=rules:approve
          --participant teal-crane=rules:sceptic --max-seconds 600
    """
    if done.restored is not None:
        yield visible(lines.restored_line(done.file, done.restored))
    yield ended_line(done)
    yield lines.state_line(done.standing)
    suggestion = debate_runs.suggest_decision(done)
    if suggestion is not None:
        yield f"waiting for you: {suggestion}"


@derive("parliament.run", parliament_runs.run, """
    DIR = folder
    --participant SEAT=SPEC = participants  Who sits there: cmd:COMMAND, llm:PROVIDER/MODEL, \
        script:FILE, rules:NAME, human.
""", within=running(lambda values: values["folder"].name), also=limit_options,
   exits=exit_code)  # fmt: skip
def run_parliament(finished: parliament_runs.ParliamentRun, folder: Path) -> Iterator[str]:
    """Let participants state, draft, ask, answer and vote until the prime minister is asked.

    SEAT is a seat's id (`moot parliament status DIR` lists them) or the name of its agent.
    All seats are asked for statements and votes at the same time; the speaker's rules open rounds
    and call votes.

    Examples:
      moot parliament run cache --participant "rep_1=cmd:claude -p"
          --participant "teal-crane=cmd:codex exec"
    """
    yield ended_line(finished)
    standing = finished.standing
    yield f"{standing['state']}, round {standing['round']}, bill version {standing['bill']}"
    if standing["state"] == "pm_review":
        yield visible(f"waiting for you: moot parliament {decide_ways(folder)}")
