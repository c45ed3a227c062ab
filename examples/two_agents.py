"""Two agents want to edit the same file; Moot refuses the second and lets it ask the first.
Run it in any folder: `python examples/two_agents.py`. It works in a temporary folder.
Needs Moot installed. Shows: a workspace, two names with keys, a reservation, a conflict, mail."""

from __future__ import annotations

import tempfile
from pathlib import Path

import moot


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        repository, keys = Path(folder) / "shop", Path(folder) / "keys"
        repository.mkdir()
        with moot.open(repository, keys=keys) as owner:
            moot.api.workspaces.init(owner)
            for name in ("amber-otter", "teal-crane"):
                moot.api.agents.register(owner, name)
        with moot.open(repository, agent="amber-otter", keys=keys) as otter:
            held = moot.api.scopes.reserve(otter, ["src/auth"], work="T-7")
            print("amber-otter holds", held.reserved[0].scope)
        with moot.open(repository, agent="teal-crane", keys=keys) as crane:
            try:
                moot.api.scopes.reserve(crane, ["src/auth/cache.py"])
            except moot.MootError as error:
                print("teal-crane is refused:", error.code)
            moot.api.events.send_blocked(
                crane,
                "amber-otter",
                subject="src/auth/cache.py",
                blocker="amber-otter holds src/auth",
                requested_action="release it, or say when",
                scope="src/auth/cache.py",
                work="T-7",
            )
        with moot.open(repository, agent="amber-otter", keys=keys) as otter:
            moot.api.scopes.release(otter, ["src/auth"])
        with moot.open(repository, agent="teal-crane", keys=keys) as crane:
            held = moot.api.scopes.reserve(crane, ["src/auth/cache.py"])
            print("teal-crane holds", held.reserved[0].scope)
        with moot.open(repository, keys=keys) as reader:
            print("the record is", moot.api.verification.verify(reader).verdict)


if __name__ == "__main__":
    main()
