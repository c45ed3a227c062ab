"""Read the record of a workspace: every history, and who held which file when.
Run it inside a repository with a workspace: `python examples/read_record.py`.
Needs Moot installed. It only reads; no key is used."""

from __future__ import annotations

import moot
from moot.api.workspace.ledger import EventList, StreamList

HELD = {"presence.scope_reserved": "reserved", "presence.scope_released": "released"}


def main() -> None:
    with moot.open(".") as session:
        histories = moot.api.ledger.log(session)
        assert isinstance(histories, StreamList)
        for history in histories.streams:
            print(f"{history.id}: {history.events} events")
        presence = moot.api.ledger.log(session, "presence", limit=1000)
        assert isinstance(presence, EventList)
        for event in presence.events:
            if event.type in HELD and isinstance(event.data, dict):
                print(event.at, event.actor, HELD[event.type], event.data["scope"])
        print("verdict:", moot.api.verification.verify(session).verdict)


if __name__ == "__main__":
    main()
