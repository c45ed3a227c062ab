"""Sessions to measure with: long ones as text, and a crowd that argues in file after file."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from bench.ground import opened
from moot.api.debates import session
from moot.core.clock import Clock, system_clock
from moot.core.errors import Refused
from moot.protocols.debate.drafts import EntryDraft
from moot.protocols.debate.model import ConsensusMode, Rules, TurnOrder
from moot.protocols.debate.writer import format_time, make_entry_text, make_session_text
from moot.workspace.workspace import Workspace

_BODY = (
    "The queue must keep what it was given, and say so when it cannot.\n\n"
    "- it loses messages when the disk is slow\n- nobody notices before noon\n\n"
    + "What was proposed helps with the first point and not with the second. " * 8
    + "\n\n```python\ndef keep(message: str) -> bool:\n    return message in kept\n```"
)
_ID = "{:08x}-0000-4000-8000-{:012x}"


def rules(agents: int, rounds: int = 100, turns: int = 10) -> Rules:
    names = tuple(f"writer-{number:02d}" for number in range(agents))
    return Rules(
        names,
        turn_order=TurnOrder.FREE_FORM,
        max_turns_per_round=turns,
        max_rounds=rounds,
        consensus_mode=ConsensusMode.WEIGHTED,
    )


def beginning(of: Rules, number: int = 0, now: int | None = None) -> str:
    created = system_clock() if now is None else now
    return make_session_text(
        "Which queue?", "The old one loses messages.", of, _ID.format(number, 1), created
    )


def draft(author: str, number: int) -> EntryDraft:
    summary = f"Point {number}: not yet."
    return EntryDraft(author=author, stance="reject", confidence="0.6", summary=summary, body=_BODY)


def entries(of: Rules, count: int, now: int) -> list[str]:
    """Valid entries, each about a kilobyte; everyone speaks ten times in a round."""
    each = len(of.agents) * of.max_turns_per_round
    made = []
    for number in range(count):
        round_, turn = divmod(number, each)
        author = of.agents[turn % len(of.agents)]
        text = make_entry_text(
            draft(author, number), _ID.format(number, 2), format_time(now), turn + 1, round_ + 1
        )
        made.append(f"\n{text}")
    return made


# One process of a crowd: python -m bench.debates WORKSPACE AGENT CROWD SECONDS --------------------


def main(place: Path, agent: str, crowd: int, seconds: float) -> None:
    with opened(place) as space:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        for entry in argue(place, space, agent, crowd, time.perf_counter() + seconds):
            sys.stdout.write(f"{entry}\n")
    sys.stdout.flush()


def argue(place: Path, space: Workspace, agent: str, crowd: int, end: float) -> list[str]:
    """The ids that were acknowledged until `end`; a session that ended is followed by another."""
    clock: Clock = space.engine.clock
    file, number = 0, 0
    done: list[str] = []
    while time.perf_counter() < end:
        path = place / f"debate-{file}.md"
        if not path.exists():
            _begin(path, space, crowd, file)
        try:
            done += session.add(path, draft(agent, number), clock, space).entries
            number += 1
        except Refused as refused:
            if refused.code == "session_ended":
                file += 1
            elif refused.code == "wrong_speaker":  # through in this round: let the others speak
                time.sleep(0.02)
            else:
                raise
    return done


def _begin(path: Path, space: Workspace, crowd: int, file: int) -> None:
    try:
        session.new(path, beginning(rules(crowd, rounds=3, turns=5), file), space)
    except Refused as refused:
        if refused.code not in ("file_exists", "session_known"):
            raise


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
