"""While a program runs and when it ends: has the hook of each coding tool spoken?

That a hook is expected is on record before the program starts. A tool whose hook stays silent, also
one that appears only among the processes below, is reported once and is on record from the time it
was seen. If no hook has spoken at all, the files that changed are told and are on record, too.
Whatever goes wrong here is told and never ends the run.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from moot.core.errors import MootError

if TYPE_CHECKING:
    import subprocess

    from moot.api.launching import GuardedStart
    from moot.api.run_watch import RunWatch
    from moot.api.session import Session
    from moot.core.clock import Millis
    from moot.system.footprint import Footprint

LOOK_SECONDS: Final = 2.0


class GuardProof:
    """The proof of one run's guard, from before its program starts until it has ended."""

    def __init__(self, session: Session, starts: Sequence[GuardedStart], watch: RunWatch) -> None:
        from moot.flows.launch.silent_tools import PATIENCE_SECONDS, SilentTools

        self._session = session
        self._workspace = session.workspace
        self._agent = session.actor()
        self._watch = watch
        self._tools = dict.fromkeys(start.tool for start in starts)
        self._unguarded = {start.tool: start.problems for start in starts if start.problems}
        self._silent = SilentTools(PATIENCE_SECONDS)
        self._since: Millis = self._workspace.engine.clock()
        self._seen_at: dict[str, Millis] = {}  # a tool -> when it was first seen, on the record
        self._before = self._picture() if starts else None

    def begin(self) -> None:
        """Put down what is expected, or that nobody checks."""
        from moot.flows.observed import run_guard

        for tool in self._tools:
            if tool in self._unguarded:
                self._watch.unguarded(tool, self._unguarded[tool])
                run_guard.note_unguarded(self._workspace, self._agent, tool)
                self._tell_person(tool)
            else:
                run_guard.expect_hook(self._workspace, self._agent, tool)

    def look(self, program: int) -> None:
        """One look at the processes below the program."""
        from moot.system.process_tree import processes_of_run

        processes = processes_of_run(program, "MOOT_AGENT", self._agent)
        silent = self._silent.look(processes, self._count_spoken, time.monotonic())
        now = self._workspace.engine.clock()
        for tool in self._silent.seen:
            self._seen_at.setdefault(tool, now)
        for tool in silent:
            if tool not in self._unguarded:
                self._watch.silent_tool(tool)
                since = self._since if tool in self._tools else self._seen_at[tool]
                self._note_silent(tool, since)

    def end(self) -> None:
        """The program has ended: close what was watched, and say what nobody checked."""
        from moot.flows.observed import run_guard, sessions

        tools = dict.fromkeys((*self._tools, *self._silent.seen))
        spoke = {tool: self._count_spoken(tool) > 0 for tool in tools}
        files = self._changed_files() if tools and not any(spoke.values()) else ()
        if files:
            self._watch.unseen_changes(files)
        for tool in tools:
            if tool not in self._tools and not spoke[tool]:
                self._note_silent(tool, self._seen_at[tool])
            run_guard.end_run(self._workspace, self._agent, tool, self._since, files)
        if tools:
            tests = sessions.end_sessions_of_run(self._workspace, self._agent, self._since)
            if tests is not None:
                self._watch.noticed(tests)

    def _note_silent(self, tool: str, since: Millis) -> None:
        from moot.flows.observed.run_guard import note_unguarded
        from moot.flows.observed.sessions import NO_HOOK

        note_unguarded(self._workspace, self._agent, tool, NO_HOOK, since)
        self._tell_person(tool)

    def _tell_person(self, tool: str) -> None:
        from moot.flows.person_notices import PersonMoment, notify_person

        sentence = f"{tool} works as {self._agent} and nobody checks its edits"
        once = f"{self._agent} {tool} {self._since}"
        notify_person(
            self._workspace.path, self._session.env, PersonMoment.UNGUARDED, once, sentence
        )

    def _count_spoken(self, tool: str) -> int:
        from moot.flows.observed.run_guard import count_spoken

        return count_spoken(self._workspace, self._agent, tool, self._since)

    def _picture(self) -> Footprint:
        from moot.system.footprint import take_footprint

        return take_footprint(self._session.place.worktree, ())

    def _changed_files(self) -> tuple[str, ...]:
        from moot.system.footprint import compare_footprints

        if self._before is None:
            return ()
        root = self._session.place.worktree
        changes = compare_footprints(root, (), self._before, self._picture())
        paths = (change.path for change in changes if not change.path.startswith(".git/"))
        return tuple(os.fsencode(path).decode("utf-8", "backslashreplace") for path in paths)


@contextmanager
def proving(
    session: Session, starts: Sequence[GuardedStart], watch: RunWatch
) -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """A block in which a program runs; call what it gives with the program once it has started."""
    proof: GuardProof | None = None
    over = threading.Event()
    threads: list[threading.Thread] = []

    def watch_program(program: subprocess.Popen[bytes]) -> None:
        def look() -> None:
            while proof is not None and not over.wait(LOOK_SECONDS):
                with suppress(MootError, OSError):  # it is looked again
                    proof.look(program.pid)

        threads.append(threading.Thread(target=look, name="moot-guard", daemon=True))
        threads[0].start()

    with _telling(watch, "what is expected of its hooks is not on record"):
        proof = GuardProof(session, starts, watch)
        proof.begin()
    try:
        yield watch_program
    finally:
        over.set()
        for thread in threads:
            thread.join()
        with _telling(watch, "what was watched of it is not closed"):
            if proof is not None:
                proof.end()


@contextmanager
def _telling(watch: RunWatch, what: str) -> Iterator[None]:
    """Trouble at the edges is told; it never replaces what goes on, or how it ended."""
    try:
        yield
    except (MootError, OSError) as error:
        watch.failed(what, error)
