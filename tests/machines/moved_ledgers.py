"""Projects whose ledgers are moved as soon as a test has made them."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from moot.core.clock import Millis, fixed_clock, system_clock
from tests.hosts.kept_ledger import KeptLedger
from tests.project import Project, Result
from tests.store.postgres_server import server_url

Run = Callable[..., Result]


class MovedLedgers:
    """The ledgers of one test, each moved as soon as it is made."""

    def __init__(self, place: str, folder: Path, run: Run) -> None:
        self._place = place
        self._folder = folder
        self._run = run
        self._kept: list[KeptLedger] = []
        self._keepers: dict[Path, Project] = {}  # the root of a project that joined -> its keeper
        self._clock_text = ""

    def run(self, project: Project, *words: str, **more: Any) -> Result:
        self.set_clock(project, more)
        is_new = "init" in words and not (project.root / ".moot").exists()
        if is_new and "joined" in self._place and not more.get("cwd"):
            return self._join(project, *words, **more)
        if "--human" in words and project.root in self._keepers:
            return self._make_person(project, *words, **more)
        done = self._run(project, *words, **more)
        if is_new and (project.root / ".moot").exists() and self._place == "postgres":
            self._move(project)
        return done

    def set_clock(self, project: Project, more: dict[str, Any]) -> None:
        """The keeper's clock is the one that the test gives its commands."""
        self._clock_text = str({**project.env, **more}.get("MOOT_CLOCK", ""))

    def close(self) -> None:
        for ledger in self._kept:
            ledger.close()

    def _clock(self) -> Millis:
        return (fixed_clock(self._clock_text) if self._clock_text else system_clock)()

    def _move(self, project: Project) -> None:
        done = self._run(project, "ledger", "move", server_url())
        assert done.code == 0, done

    def _join(self, project: Project, *words: str, **more: Any) -> Result:
        """Found the ledger on a machine of its own, and let the test's project join it."""
        place = self._folder / f"keeper-{len(self._kept)}"
        keeper = Project(place / "project", place / "keys", **_without_places(project.env))
        keeper.root.mkdir(parents=True)
        done = self._run(keeper, *words, **more)
        if done.code != 0:
            return done
        if "postgres" in self._place:
            self._move(keeper)
        ledger = KeptLedger(keeper)
        ledger.keeping._engine.clock = self._clock
        self._kept.append(ledger)
        self._keepers[project.root] = keeper
        ledger.join(project.root, project.keys, f"machine-{len(self._kept)}")
        _copy_locked_key(keeper, project, "operator")
        return done

    def _make_person(self, project: Project, *words: str, **more: Any) -> Result:
        """Where the ledger is kept: the first person is never made by a machine that joined."""
        keeper = self._keepers[project.root]
        done = self._run(keeper, *words, **more)
        _copy_locked_key(keeper, project, words[words.index("register") + 1])
        return done


def _copy_locked_key(keeper: Project, project: Project, person: str) -> None:
    """A person works at this machine, and has taken the locked key along."""
    for locked in keeper.keys.glob(f"*/{person}.*.key"):
        shutil.copy(locked, project.keys / locked.parent.name / locked.name)


def _without_places(env: dict[str, str]) -> dict[str, str]:
    own = {"PATH", "HOME", "MOOT_KEYS", "GIT_CONFIG_NOSYSTEM"}
    return {name: value for name, value in env.items() if name not in own}
