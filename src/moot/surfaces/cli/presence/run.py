"""`moot run -- COMMAND`: run a program as a named agent, with heartbeats, and release at the end.

All messages of this module go to standard error: standard output belongs to the program.
"""

from __future__ import annotations

import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import click

from moot.api.typed_paths import read_typed_scopes, remark_on_missing
from moot.runner import moot_run
from moot.runner.run_watch import RunWatch
from moot.surfaces.cli.presence.scope import scope_hints
from moot.surfaces.hooks.hook_server import answer_hook
from moot.surfaces.terminal.answer import Answer, paint, say_aside, visible
from moot.surfaces.terminal.shell import Shell, command
from moot.usage.telemetry.switch import started_telemetry

if TYPE_CHECKING:
    import subprocess

    from moot.core.findings import Finding
    from moot.usage.totals import UsageView

STDERR: Final = 2
MOST_NAMES: Final = 10
FORWARDED: Final = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH", "SIGCONT")
# A terminal sends these to both of us: the program decides what they mean.
SHARED: Final = ("SIGINT", "SIGQUIT")


def _refuse_removed_option(
    _context: click.Context, _parameter: click.Parameter, is_given: bool
) -> None:
    """Refuse the removed option `--no-hooks`, which left a tool unguarded without a notice."""
    if is_given:
        raise click.UsageError(
            "--no-hooks was removed: hooks are always installed; --unguarded starts a tool without"
            " them, and says so"
        )


@command(
    None,
    "run",
    "run",
    context_settings={"allow_interspersed_args": False},
)
@click.option("--name", metavar="NAME", help="The agent's name (default: a new one).")
@click.option(
    "--adopt",
    is_flag=False,
    flag_value="",
    metavar="[NAME]",
    help="Continue the unfinished work of NAME (or of --name) without asking.",
)
@click.option("--reserve", "scopes", multiple=True, metavar="SCOPE", help="Reserve this first.")
@click.option("--work", "--bead", "work", metavar="ID", help="The work item (default: the branch).")
@click.option(
    "--unguarded", is_flag=True, help="Start it although nothing checks its edits; recorded."
)
@click.option("--mcp/--no-mcp", default=True, help="Also let a coding tool start `moot mcp`.")
@click.option(
    "--usage/--no-usage",
    default=None,
    help="Ask coding tools what they use (default: telemetry.tools in your own settings).",
)
@click.option(
    "--no-hooks",
    is_flag=True,
    hidden=True,
    expose_value=False,
    callback=_refuse_removed_option,
    help="Removed.",
)
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND...")
def run(
    shell: Shell,
    name: str | None,
    adopt: str | None,
    scopes: tuple[str, ...],
    work: str | None,
    unguarded: bool,
    mcp: bool,
    usage: bool | None,
    words: tuple[str, ...],
) -> Answer:
    """Run COMMAND as an agent: registered, alive while it runs, released when it ends.

    The program finds its name in MOOT_AGENT. Signals and the exit code are passed on; what it
    holds is released at the end, even if it crashes. With --json, standard output has only Moot's
    answer, and the program's output goes to standard error.

    A coding tool asks Moot before each edit: Moot installs missing hooks. If they would not run (no
    trust, a switch, another folder), Moot does not start the tool and prints the command that fixes
    it. --unguarded starts it anyway; the record says from when to when. Edits of any other program
    are watched, not checked.

    A name may be used again. If files in its scopes are uncommitted, or it owns a work item in
    progress, and no program runs under it, Moot asks whether to continue that work (--adopt
    continues without asking). Otherwise the agent gets the next name: alice-2 after alice.

    A SCOPE is read from the folder you are in, :/x from the root of the worktree.

    With --usage a coding tool reports its calls, tokens and cost to this run alone, on loopback:
    `moot status` shows them while it works, and the record keeps them. A tool whose telemetry you
    send somewhere else is left alone.

    Examples:
      moot run -- claude
      moot run --name alice -- claude
      moot run --adopt alice -- claude --continue
      moot run --name amber-otter --reserve src/auth -- codex
      moot run -- env CODEX_HOME=/srv/codex timeout 1h npx -y @openai/codex exec "fix the tests"
      moot run --unguarded -- gemini --skip-trust
      moot run --usage --work T-7 -- claude
    """
    wanted = _one_name(name, adopt)
    names = read_typed_scopes(scopes, shell.session)
    with _Signals() as signals, scope_hints(shell, names):
        watch = _Commentary(wanted, words[0], names, shell, signals)
        ran = moot_run.run(
            shell.session,
            words,
            name=wanted,
            adopt=adopt is not None,
            scopes=names,
            work=work,
            unguarded=unguarded,
            mcp=mcp,
            usage=usage,
            output=STDERR if shell.json else None,
            watch=watch,
        )
    _tell_telemetry(ran)
    return Answer(ran, lambda: (), ran.exit_status)


def _tell_telemetry(ran: moot_run.Ran) -> None:
    telemetry = started_telemetry()
    if telemetry is not None:
        from moot.surfaces.terminal.telemetry import describe_run

        describe_run(telemetry, ran.agent, ran.tools, ran.usage)


def _one_name(name: str | None, adopt: str | None) -> str | None:
    """Return the name given by `--name` or `--adopt NAME`; refuse two different names."""
    if name and adopt and name != adopt:
        raise click.UsageError(
            f"--name {name} and --adopt {adopt} are two names; write `--` before the command"
        )
    return name if name is not None else (adopt or None)


class _Commentary(RunWatch):
    """Reports the run's events on standard error, and forwards signals to the program."""

    def __init__(
        self,
        wanted: str | None,
        program: str,
        scopes: tuple[str, ...],
        shell: Shell,
        signals: _Signals,
    ) -> None:
        self.answer_hook = answer_hook
        self._wanted = wanted
        self._program = program
        self._scopes = scopes
        self._shell = shell
        self._signals = signals
        telemetry = started_telemetry()
        if telemetry is not None:
            from moot.usage.telemetry.spans import exporting_answers

            self.answer_hook = exporting_answers(telemetry, answer_hook)

    def consents_to_adoption(self, name: str, unfinished: str) -> bool:
        if not self._shell.interactive():
            _say(f"not continuing as {name} ({visible(unfinished)}): use --adopt")
            return False
        _say(f"{name} ended with work unfinished: {visible(unfinished)}")
        return click.confirm(f"continue as {name}?", default=True, err=True)

    def arrived(self, name: str) -> None:
        if self._wanted not in (None, name):
            _say(f"{self._wanted} was used before: this session is {name}")
        for finding in remark_on_missing(self._scopes, self._shell.session.place):
            _say(f"{finding.message}: {finding.hint}")

    def installed_hooks(self, tool: str) -> None:
        _say(f"installed hooks for {tool}; `moot hook uninstall {tool}` removes them")

    def consents_to_trust(self, tool: str, problems: Sequence[Finding]) -> bool:
        if not self._shell.interactive():
            return False
        for problem in problems:
            _say(visible(problem.message))
        return click.confirm(f"trust the hooks of moot in {tool} here?", default=False, err=True)

    def unguarded(self, tool: str, problems: Sequence[Finding]) -> None:
        word = paint("unguarded", "red", sys.stderr)
        _say(f"{word}: nothing checks the edits of {tool}: {visible(problems[0].message)}")

    def starting(self, name: str, tools: Sequence[str]) -> None:
        more = "" if tools else "; its edits are watched, not checked"
        _say(f"{name} works here until {self._program} ends{more}")

    def silent_tool(self, tool: str) -> None:
        _say(f"{tool} runs, but its hook has not called yet: a first start may take a minute")

    def unasked_call(self, tool: str) -> None:
        word = paint("unguarded", "red", sys.stderr)
        _say(f"{word}: {tool} made a call without asking its hook: nothing checks its edits")

    def hooks_lost(self, tool: str, worktree: str, *, is_kept: bool) -> None:
        fix = f"`cd {shlex.quote(worktree)} && moot hook install {tool}` puts them back"
        gone = f"the hooks of {tool} were removed from its settings in {visible(worktree)}"
        if is_kept:
            _say(f"{gone}; this session keeps them, the next would be unguarded: {fix}")
        else:
            word = paint("unguarded", "red", sys.stderr)
            _say(f"{word}: {gone}: nothing may check its edits; {fix}")

    def hooks_heard(self, tool: str) -> None:
        _say(f"{tool} still asks before it edits: it keeps the hooks that it started with")

    def unseen_changes(self, files: Sequence[str]) -> None:
        word = paint("unguarded", "red", sys.stderr)
        names = ", ".join(map(visible, files[:MOST_NAMES]))
        more = f" and {len(files) - MOST_NAMES} more" if len(files) > MOST_NAMES else ""
        _say(f"{word}: no hook was called, and these files changed: {names}{more}")

    def noticed(self, line: str) -> None:
        _say(line)

    def started(self, program: subprocess.Popen[bytes]) -> None:
        self._signals.pass_to(program)

    def usage_unknown(self, tool: str, why: str) -> None:
        _say(f"the usage of {tool} stays unknown: {visible(why)}")

    def used(self, tools: Sequence[str], usage: UsageView) -> None:
        _say(f"{' and '.join(tools)} used {usage.line}")

    def trace_variables(self) -> Mapping[str, str]:
        if started_telemetry() is None:
            return {}
        from moot.surfaces.terminal.telemetry import trace_variables

        return trace_variables()

    def failed(self, what: str, error: Exception) -> None:
        _say(f"{what}: {error}")


class _Signals:
    """Forwards signals to the program; those that arrive before it starts are kept and sent then.

    No signal ends `moot run` before it has released scopes and retired the agent.
    """

    def __init__(self) -> None:
        self._program: subprocess.Popen[bytes] | None = None
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

    def pass_to(self, program: subprocess.Popen[bytes]) -> None:
        self._program = program
        for number in self._early:
            self._send(number)

    def _on_signal(self, number: int, _frame: Any) -> None:
        if self._program is None:
            self._early.append(number)
        elif signal.Signals(number).name not in SHARED:
            self._send(number)

    def _send(self, number: int) -> None:
        with suppress(ProcessLookupError):
            if self._program is not None:
                self._program.send_signal(number)


def _say(line: str) -> None:
    say_aside(f"moot: {line}")
