"""Check, while a program runs and when it ends, that the hook of each coding tool runs.

Before the program starts it is recorded that a hook is expected. If the hook of a tool does not
run, including tools that appear later among the child processes, that is reported once: the tool
may still be starting. It is recorded as unguarded only if its own conversation files show a call
for which no hook ran. If no hook ran at all, the changed files are reported and recorded too.

The settings with our hooks are watched: if they lose the hooks, that is reported and recorded until
a hook runs again. Errors here are reported and never end the run.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from moot.coding_tools import find_tool
from moot.coding_tools.started_tools import tool_of_process
from moot.coding_tools.starts import ShownCall
from moot.core.clock import Millis
from moot.core.errors import MootError
from moot.system.process_tree import Process, find_folder, list_processes, processes_of_run

if TYPE_CHECKING:
    import subprocess

    from moot.api.guard.guarded_paths import GuardedPaths
    from moot.api.session import Session
    from moot.runner.launching import GuardedStart
    from moot.runner.run_watch import RunWatch
    from moot.system.footprint import Footprint


LOOK_SECONDS: Final = 2.0
ASKED_MILLIS: Final = 10_000  # so long a tool may show a call before its hook asks about it
SETTLED_SECONDS: Final = 10.0  # so long a tool may take to read changed settings (measured: 2 to 4)


class GuardProof:
    """The proof of one run's guard, from before its program starts until it has ended."""

    def __init__(self, session: Session, starts: Sequence[GuardedStart], watch: RunWatch) -> None:
        self._session = session
        self._workspace = session.workspace
        self._agent = session.actor()
        self._watch = watch
        self._tools = {start.tool: start for start in starts}
        self._unguarded = {start.tool: start.problems for start in starts if start.problems}
        self._silent = SilentTools(PATIENCE_SECONDS)
        self._since: Millis = self._workspace.engine.clock()
        self._shown: set[str] = set()  # tools that showed a call which no hook was asked about
        self._losing: set[str] = set()  # tools whose settings lost our hooks: to be recorded
        self._lost: dict[str, float] = {}  # those that are on record, and since when
        self._settled: set[str] = set()  # of those: they have read their settings again by now
        self._before = self._picture() if starts else None
        self._settings = {
            start.tool: _WatchedSettings(start.tool, start.guarded, start.env)
            for start in starts
            if not start.problems and start.guarded is not None
        }

    def begin(self) -> None:
        """Record for each tool that its hook is expected, or that nothing checks its edits."""
        from moot.api.observed import guards

        for tool in self._tools:
            if tool in self._unguarded:
                self._watch.unguarded(tool, self._unguarded[tool])
                guards.note_unguarded(self._workspace, self._agent, tool)
                self._tell_person(tool)
            else:
                guards.expect_hook(self._workspace, self._agent, tool)

    def look(self, program: int) -> None:
        """Check the processes below the program once."""
        processes = processes_of_run(program, "MOOT_AGENT", self._agent)
        silent = self._silent.look(processes, self._count_hooked_sessions, time.monotonic())
        for tool in silent:
            if tool not in self._unguarded:
                self._watch.silent_tool(tool)
        self._look_for_unasked(self._silent.reported, processes)
        self._look_at_settings()

    def _look_for_unasked(self, tools: set[str], processes: Sequence[Process] = ()) -> None:
        """Record the tools that show a call for which no hook ran.

        Only if no other process of that tool works there: its calls would look the same. A recent
        call does not count while its tool runs, because the hook may still be called.
        """
        from moot.api.observed.guards import was_hook_asked
        from moot.api.observed.sessions import NO_HOOK

        now = self._workspace.engine.clock()
        until = now - ASKED_MILLIS if processes else now
        for tool in sorted(tools - self._shown - set(self._unguarded)):
            start = self._tools.get(tool)
            env = self._session.env if start is None else start.env
            folder = str(self._session.folder) if start is None else start.folder
            if self._count_hooked_sessions(tool) or _has_others(tool, folder, processes):
                continue
            calls = find_shown_calls(tool, env, folder, self._since)
            unasked = [
                call.at
                for call in calls
                if call.at <= until and not was_hook_asked(self._workspace, tool, call.session)
            ]
            if unasked:
                self._shown.add(tool)
                self._watch.unasked_call(tool)
                self._note_unguarded(tool, NO_HOOK, max(self._since, min(unasked)))

    def _look_at_settings(self) -> None:
        """Report and record that a tool's settings lost our hooks, and that it kept them after
        all."""
        from moot.api.observed import guards, sessions

        work = self._workspace, self._agent
        for tool, settings in self._settings.items():
            lost = settings.look()
            if lost is not None:
                is_kept = settings.is_kept()
                self._watch.hooks_lost(tool, lost, is_kept=is_kept)
                self._losing |= set() if is_kept else {tool}
            if tool in self._losing:
                self._note_unguarded(tool, sessions.HOOK_OFF, None)
                sessions.note_hooks_lost(*work, tool)
                self._losing.discard(tool)
                self._lost[tool] = time.monotonic()
            elif tool in self._lost and self._still_asks(tool, settings):
                guards.note_hook_ran(*work, tool, self._workspace.engine.clock())
                del self._lost[tool]
                self._settled.discard(tool)
                self._watch.hooks_heard(tool)

    def _still_asks(self, tool: str, settings: _WatchedSettings) -> bool:
        """True if the tool kept its hooks, or if one ran after the tool had time to reload its
        settings: a call that began before still runs its hook."""
        from moot.api.observed import sessions

        work = self._workspace, self._agent
        if settings.is_kept():
            sessions.note_hooks_kept(*work, tool)
            return True
        if time.monotonic() - self._lost[tool] < SETTLED_SECONDS:
            return False
        if tool not in self._settled:
            sessions.note_hooks_lost(*work, tool)
            self._settled.add(tool)
            return False
        return sessions.has_hook_run(*work, tool)

    def end(self) -> None:
        """Close the records when the program has ended, and report what was not checked."""
        from moot.api.observed import guards, sessions

        self._look_at_settings()
        tools = dict.fromkeys((*self._tools, *self._silent.seen))
        self._look_for_unasked(set(tools))
        spoke = {tool: self._count_hooked_sessions(tool) > 0 for tool in tools}
        files = self._changed_files() if tools and not any(spoke.values()) else ()
        if files:
            self._watch.unseen_changes(files)
        for tool in tools:
            if files and tool not in self._tools and tool not in self._shown:
                guards.expect_hook(self._workspace, self._agent, tool)
            guards.end_run(self._workspace, self._agent, tool, self._since, files)
        if tools:
            tests = sessions.end_sessions_of_run(self._workspace, self._agent, self._since)
            if tests is not None:
                self._watch.noticed(tests)

    def _note_unguarded(self, tool: str, why: str, since: Millis | None) -> None:
        from moot.api.observed.guards import note_unguarded

        note_unguarded(self._workspace, self._agent, tool, why, since)
        self._tell_person(tool)

    def _tell_person(self, tool: str) -> None:
        from moot.api.guard.person_notices import PersonMoment, notify_person

        sentence = f"{tool} works as {self._agent} and nobody checks its edits"
        once = f"{self._agent} {tool} {self._since}"
        notify_person(
            self._workspace.path, self._session.env, PersonMoment.UNGUARDED, once, sentence
        )

    def _count_hooked_sessions(self, tool: str) -> int:
        from moot.api.observed.guards import count_hooked_sessions

        return count_hooked_sessions(self._workspace, self._agent, tool, self._since)

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


def _has_others(tool: str, folder: str, ours: Sequence[Process]) -> bool:
    """True if another process of this tool works in `folder`, or may."""
    known = {process.pid for process in ours}
    others = [each for each in list_processes() if each.pid not in known]
    folders = (find_folder(each.pid) for each in others if tool_of_process(each.words) == tool)
    return any(each in (None, os.path.realpath(folder)) for each in folders)


class _WatchedSettings:
    """The files with one tool's hooks, as they were when it started."""

    def __init__(self, tool: str, guarded: GuardedPaths, env: Mapping[str, str]) -> None:
        from moot.api.hook_setup import guard_files

        self._place = tool, guarded, env
        self._stamp = guard_files.fingerprint_guard(*self._place)
        self._first = guard_files.read_guard(*self._place)
        self._whole_at = time.time()
        self._is_lost = False

    def look(self) -> str | None:
        """Return the worktree whose settings have newly lost our hooks; None if nothing changed."""
        from moot.api.hook_setup import guard_files

        looked_at, stamp = time.time(), guard_files.fingerprint_guard(*self._place)
        if stamp == self._stamp:
            self._whole_at = self._whole_at if self._is_lost else looked_at
            return None
        self._stamp, was_lost = stamp, self._is_lost
        is_weaker = guard_files.is_weaker(self._first, guard_files.read_guard(*self._place))
        self._is_lost = is_weaker and not guard_files.is_guard_whole(*self._place)
        if not self._is_lost:
            self._whole_at = looked_at
            return None
        return None if was_lost else str(self._place[1].worktree_root)

    def is_kept(self) -> bool:
        """True if the tool was told to keep its hooks since the settings were last complete."""
        from moot.api.hook_setup.hook_stamps import Stamp, last_stamped

        tool, guarded, _env = self._place
        kept_at = last_stamped(guarded.workspace, Stamp.KEPT, tool, guarded.worktree_root)
        return kept_at is not None and kept_at >= self._whole_at


@contextmanager
def proving_guard(
    session: Session, starts: Sequence[GuardedStart], watch: RunWatch
) -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """Run the checks during the block; call the yielded function with the started program."""
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

    with _reporting_errors(watch, "what is expected of its hooks is not on record"):
        proof = GuardProof(session, starts, watch)
        proof.begin()
    try:
        yield watch_program
    finally:
        over.set()
        for thread in threads:
            thread.join()
        with _reporting_errors(watch, "what was watched of it is not closed"):
            if proof is not None:
                proof.end()


@contextmanager
def _reporting_errors(watch: RunWatch, what: str) -> Iterator[None]:
    """Report errors instead of raising them: they must not replace the result of the run."""
    try:
        yield
    except (MootError, OSError) as error:
        watch.failed(what, error)


# Coding tools among the processes of a run whose hook has not spoken, although it had the time.
#
# Pure: who is alive, how many sessions hooks have begun and the time are arguments. A tool below
# another one of its kind is that one's own: tools restart themselves, and start helpers.

PATIENCE_SECONDS: Final = 10.0


class SilentTools:
    """Remembers since when each tool was seen, and which were reported."""

    def __init__(self, patience_seconds: float) -> None:
        self._patience = patience_seconds
        self._first_seen: dict[tuple[int, str], float] = {}
        self._reported: dict[str, int] = {}

    @property
    def reported(self) -> set[str]:
        """Return every tool whose hook was once reported as silent."""
        return set(self._reported)

    @property
    def seen(self) -> set[str]:
        """Return every tool that was seen."""
        return {tool for _, tool in self._first_seen}

    def look(
        self, processes: Iterable[Process], count_hooked_sessions: Callable[[str], int], now: float
    ) -> list[str]:
        """Return the newly silent tools: those with more processes than sessions that hooks
        started."""
        outermost = dict(_outermost_tools({each.pid: each for each in processes}))
        for pid, tool in outermost.items():
            self._first_seen.setdefault((pid, tool), now)
        silent = []
        for tool in sorted(set(outermost.values())):
            waited = sum(
                1
                for pid, known in outermost.items()
                if known == tool and now - self._first_seen[pid, tool] >= self._patience
            )
            if waited > max(self._reported.get(tool, 0), count_hooked_sessions(tool)):
                self._reported[tool] = waited
                silent.append(tool)
        return silent


def _outermost_tools(processes: Mapping[int, Process]) -> Iterator[tuple[int, str]]:
    for pid, process in processes.items():
        tool = tool_of_process(process.words)
        if tool is not None and tool not in _tools_above(process, processes):
            yield pid, tool


def _tools_above(process: Process, processes: Mapping[int, Process]) -> set[str | None]:
    above, passed = set(), {process.pid}
    while process.parent in processes and process.parent not in passed:
        process = processes[process.parent]
        passed.add(process.pid)
        above.add(tool_of_process(process.words))
    return above


# Calls that a coding tool shows by itself: in the files in which it keeps its conversations.
#
# A tool that asks no hook still writes down what it does. That is the only proof that it went on
# unchecked: silence proves nothing, since a first start may take a minute. opencode keeps its
# conversations in a database, which is not read.

MOST_FILES: Final = 200
MOST_BYTES: Final = 32 << 20


def find_shown_calls(
    tool: str, env: Mapping[str, str], folder: str, since: Millis
) -> tuple[ShownCall, ...]:
    """Return the calls since then, of sessions that work in `folder`, that the tool's files
    show."""
    known = find_tool(tool)
    shown = []
    for file in _newest(known.list_conversations(env), since):
        calls = known.read_conversation(file, os.path.realpath(folder))
        shown += [call for call in calls if call.at >= since]
    return tuple(shown)


def _newest(files: Iterable[Path], since: Millis) -> list[Path]:
    """Return files written since then; very large ones are left out."""
    found = []
    for file in files:
        try:
            stat = file.stat()
        except OSError:
            continue
        if stat.st_mtime * 1_000 >= since and stat.st_size <= MOST_BYTES:
            found.append((stat.st_mtime, file))
    return [file for _at, file in sorted(found)[-MOST_FILES:]]
