"""The four files as a script would write them that follows the document and not our program.

Such a script keeps what the document fixes and is free in the rest: it stamps UTC as `+00:00` with
a fraction, begins `round-summaries.json` with the end of the first round, steps the caps of rounds
2 to 5 in halves of the seats, adds a row to every history of temperatures in each round, writes a
seat's satisfaction with its first score, and the bill's drafter with the first draft.
"""

from __future__ import annotations

import json
from typing import Any, Final

from moot.protocols.parliament.files.file_shapes import FILES

LEDGER, SESSION, BILL, SUMMARIES = FILES
# By round: exchanges a seat, and the sentences of a response. Both fall, between fixed ends.
EXCHANGES_A_SEAT: Final = {0: 2.0, 1: 2.0, 2: 2.0, 3: 1.5, 4: 1.5, 5: 1.0, 6: 1.0}
SENTENCES: Final = {0: 6, 1: 6, 2: 5, 3: 4, 4: 3, 5: 3, 6: 2}


def script_files(files: dict[str, bytes]) -> dict[str, bytes]:
    """Our files of a session, written by such a script; one that has no round yet has three."""
    written = {name: json.loads(data) for name, data in files.items()}
    for message in written[LEDGER]["messages"]:
        message["timestamp"] = message["timestamp"].removesuffix("Z") + ".000000+00:00"
    session = written[SESSION]
    set_clock(session)
    for representative in session["representatives"]:
        _write_every_round(representative, session["current_round"])
        _write_scores_only(representative)
    if written[BILL]["version"] == 0:
        written[BILL].update(bill_id="BILL-001", title="", drafter=None)
    if not written[SUMMARIES]:
        del written[SUMMARIES]
    return {name: json.dumps(document, indent=2).encode() for name, document in written.items()}


def set_clock(session: dict[str, Any]) -> None:
    number, seats = min(session["current_round"], 6), len(session["representatives"])
    session["debate_clock"].update(
        max_exchanges_per_round=int(seats * EXCHANGES_A_SEAT[number]),
        response_budget=SENTENCES[number],
    )


def announce_next_round(session: dict[str, Any]) -> None:
    """What the script does first in a new round: counter, clock and temperatures, no message."""
    session["current_round"] += 1
    for representative in session["representatives"]:
        temperature = (representative["temperature"] + 7) % 91
        representative["temperature"] = temperature
        row = {"round": session["current_round"], "temperature": temperature}
        representative["temperature_history"].append(row)
    session["debate_clock"]["exchanges_this_round"] = 0
    set_clock(session)


def _write_every_round(representative: dict[str, Any], current: int) -> None:
    changes = {row["round"]: row["temperature"] for row in representative["temperature_history"]}
    rows, temperature = [], changes[0]
    for number in range(current + 1):
        temperature = changes.get(number, temperature)
        rows.append({"round": number, "temperature": temperature})
    representative["temperature_history"] = rows


def _write_scores_only(representative: dict[str, Any]) -> None:
    scores = representative.pop("motive_satisfaction")
    known = {motive: score for motive, score in scores.items() if score is not None}
    if known:
        representative["motive_satisfaction"] = known
