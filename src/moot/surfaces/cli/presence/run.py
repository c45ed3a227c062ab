"""`moot run -- COMMAND`: a program with a name, a heartbeat while it lives, and a clean end."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

import click

from moot.api.session import settings_for
from moot.core.clock import SECOND, Millis
from moot.core.errors import MootError, Unavailable
from moot.flows.tools import HOOK_TOOLS
from moot.protocols.presence import STREAM
from moot.surfaces.cli.presence.from_root import misread
from moot.surfaces.cli.presence.here import Here
from moot.surfaces.cli.presence.scope_hints import hinted
from moot.surfaces.terminal.answer import Answer, say_aside
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.workspace.workspace import Workspace

LONGEST_PAUSE: Final[Millis] = 60 * SECOND
SHORTEST_PAUSE: Final[Millis] = 50
STDERR: Final = 2
# What the child must not inherit: a person's passphrase is no business of an agent's.
WITHHELD: Final = ("MOOT_PASSPHRASE_FILE",)
FORWARDED: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT")
# A terminal sends these to both of us: the program decides what they mean.
SHARED: Final = ("SIGINT", "SIGQUIT")
# Who would be asked for, before a name is made up.
SOMEBODY: Final = "some-body"


@command(
    None,
    "run",
    "run",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--name", metavar="NAME", help="The agent's name (default: one is made up).")
@click.option("--reserve", "scopes", multiple=True, metavar="SCOPE", help="Reserve this first.")
@click.option("--work", "--bead", "work", metavar="ID", help="On what (default: the branch).")
@click.option("--no-hooks", is_flag=True, help="Do not install missing hooks for the tool.")
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
def run(
    shell: Shell,
    name: str | None,
    scopes: tuple[str, ...],
    work: str | None,
    no_hooks: bool,
    words: tuple[str, ...],
) -> Answer:
    """Run COMMAND as an agent: registered, alive while it runs, released when it ends.

    The program finds its name in MOOT_AGENT. Signals and the exit code are passed on; what it
    holds is given back at the end, even if it crashes. With --json standard output is ours: what
    the program prints goes to standard error.

    Examples:
      moot run -- claude
      moot run --name amber-otter --reserve src/auth -- codex
    """
    from moot.flows.presence import arrival
    from moot.keys.running import hold

    here = Here(shell)
    space, place = here.space, here.place(work)
    first = [here.reserving(scopes, work)] if scopes else []
    with hinted(here, scopes, "run --reserve"):
        arrival.require_welcome(space, name or SOMEBODY, place, *first)
    name = _entered(space, name)
    lock = hold(space.folder, space.trust.origin, name)
    with _Signals() as signals:
        try:
            arrival.join(space, name, place)
            with hinted(here, scopes):
                for asked in first:
                    space.engine.execute(STREAM, asked, name)
            for finding in misread(scopes, here):
                _say(f"{finding.message}: {finding.hint}")
            if not no_hooks:
                _hooks_for(words[0], here)
            _say(f"{name} works here until {words[0]} ends")
            since = space.engine.clock()
            with _beating(space, name, _patience(here)):
                code = _child(words, _environment(shell, name), shell.json, signals)
            _watching_over(space, name, words[0], since)
        finally:
            with _never_hiding("could not release and retire; what it holds goes stale by itself"):
                arrival.depart(space, name, "its program ended")
            lock.release()
    return Answer({"agent": name, "exit_status": code}, lambda: (), code)


def _entered(space: Workspace, name: str | None) -> str:
    from moot.flows.presence import arrival

    if name is None:
        return arrival.enter_fresh(space)
    arrival.enter(space, name)
    return name


def _hooks_for(program: str, here: Here) -> None:
    """Missing hooks of a known tool are installed, and said; failing to is said, not fatal."""
    from moot.api.tools import ensure_hooks_for

    with _never_hiding("hooks were not installed"):
        tool = ensure_hooks_for(here.shell.session, program)
        if tool is not None:
            _say(f"installed hooks for {tool}; `moot hook uninstall {tool}` removes them")


def _watching_over(space: Workspace, name: str, program: str, since: Millis) -> None:
    """What was watched of a known tool is over; if its hook never spoke, that is on record."""
    from moot.flows.observed.watching import end_sessions_of_run

    tool = os.path.basename(program)
    if tool in HOOK_TOOLS:
        with _never_hiding("what was watched of it is not closed"):
            end_sessions_of_run(space, name, f"{tool}:run", since)


def _environment(shell: Shell, name: str) -> dict[str, str]:
    kept = {key: value for key, value in shell.env.items() if key not in WITHHELD}
    epoch = shell.workspace.engine.registry().agents[name].epoch
    return {**kept, **settings_for(name, epoch), "MOOT_HOME": str(shell.workspace.path)}


def _patience(here: Here) -> Millis:
    """How soon the least patient may call us stale: the workspace, or whoever started us."""
    usual = here.state.stale_millis
    return usual if here.stale is None else min(here.stale, usual)


@contextmanager
def _beating(space: Workspace, name: str, stale: Millis) -> Iterator[None]:
    """A sign of life every quarter of the stale time; a failed one is tried again, no more."""
    pause = max(SHORTEST_PAUSE, min(stale // 4, LONGEST_PAUSE)) / SECOND
    over = threading.Event()

    def beats() -> None:
        while not over.is_set():
            with suppress(MootError, OSError):
                space.engine.beat(name)
            over.wait(pause)

    thread = threading.Thread(target=beats, name="moot-heartbeat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _child(words: tuple[str, ...], env: dict[str, str], as_json: bool, signals: _Signals) -> int:
    """Run it on our terminal; it gets every signal we get. Its exit code is ours."""
    try:
        child = subprocess.Popen(words, env=env, stdout=STDERR if as_json else None)
    except OSError as error:
        raise Unavailable(
            "command_not_run",
            f"{words[0]}: {error.strerror or error}",
            hint="check the command behind `--`",
        ) from None
    signals.pass_to(child)
    code = child.wait()
    return 128 - code if code < 0 else code


class _Signals:
    """Signals are the program's: kept until it is there, passed on while it lives.

    None of them ends us before we have released and retired.
    """

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._early: list[int] = []
        self._before: dict[int, Any] = {}

    def __enter__(self) -> _Signals:
        for name in (*FORWARDED, *SHARED):
            number = getattr(signal, name, None)
            if number is not None:
                self._before[number] = signal.signal(number, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def pass_to(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child
        for number in self._early:
            self._send(number)

    def _on_signal(self, number: int, _frame: Any) -> None:
        if self._child is None:
            self._early.append(number)
        elif signal.Signals(number).name not in SHARED:
            self._send(number)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self._child is not None:
                self._child.send_signal(number)


@contextmanager
def _never_hiding(what: str) -> Iterator[None]:
    """Trouble at the edges is told on stderr; it never replaces what the program said."""
    try:
        yield
    except (MootError, OSError) as error:
        _say(f"{what}: {error}")


def _say(line: str) -> None:
    say_aside(f"moot: {line}")  # stdout belongs to the program
