"""`moot`: the door. Options that every command takes, the table of commands, and the one broad
`except` that turns any bug into one line instead of a traceback."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from contextlib import suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Final, NoReturn, TextIO

import click

from moot.core.errors import MootError
from moot.core.version import VERSION
from moot.surfaces.telemetry.switch import is_export_on
from moot.surfaces.terminal.answer import (
    CANNOT_RUN,
    REFUSED,
    UNPROVEN,
    USAGE,
    Unheard,
    print_error,
    silence,
)
from moot.surfaces.terminal.lazy import Entry, LazyGroup
from moot.surfaces.terminal.local_time import VARIABLE as UTC_VARIABLE
from moot.surfaces.terminal.shell import Shell

INTERRUPTED = 130
_CLI = "moot.surfaces.cli"
# A new command gets its line here, or in the `SECTIONS` of its group; CONTRIBUTING.md has all the
# steps. This is what `--help` shows; the rest stands behind `moot help --all`.
SECTIONS: dict[str, dict[str, Entry]] = {
    "Start here": {
        "run": Entry(f"{_CLI}.presence.run:run", "run a program as an agent, alive while it runs"),
        "status": Entry(f"{_CLI}.presence.status:status", "one screen: who is here, what is due"),
        "serve": Entry(f"{_CLI}.serve:serve", "the same in the browser, live"),
        "ask": Entry(
            f"{_CLI}.decisions.ask:ask", "ask several participants, and see what they come to"
        ),
    },
    "Every day": {
        "init": Entry(f"{_CLI}.init:init", "make a workspace for this repository"),
        "reserve": Entry(f"{_CLI}.presence.scope:reserve", "reserve files or folders for yourself"),
        "release": Entry(f"{_CLI}.presence.scope:release", "give back what you hold"),
        "send": Entry(f"{_CLI}.mail.send:send", "send a checked message to other agents"),
        "inbox": Entry(f"{_CLI}.mail.inbox:inbox", "what is new for you"),
        "handoff": Entry(f"{_CLI}.presence.event:handoff", "pass work on"),
        "blocked": Entry(
            f"{_CLI}.presence.event:blocked", "say what you need to go on, and from whom"
        ),
        "plan": Entry(f"{_CLI}.presence.plan:plan", "the page that the agents of one work share"),
        "undo": Entry(f"{_CLI}.guard.undo:undo", "bring back what was in a file before"),
        "agenda": Entry(f"{_CLI}.presence.agenda:agenda", "what is due, for whom, by when"),
        "decide": Entry(f"{_CLI}.decisions.decide:decide", "your word: approve, veto or amend"),
        "outcome": Entry(
            f"{_CLI}.decisions.outcome:outcome", "how a decision turned out, by your word"
        ),
        "track": Entry(
            f"{_CLI}.decisions.outcome:track", "whom to listen to, by how decisions turned out"
        ),
        "report": Entry(
            f"{_CLI}.decisions.report:report", "how anything went, by its id, as a page"
        ),
        "receipt": Entry(
            f"{_CLI}.decisions.receipt:receipt", "a decision as a file that proves itself"
        ),
        "verify": Entry(f"{_CLI}.ledger.verify:verify", "is the record intact and complete?"),
        "demo": Entry(f"{_CLI}.demo:demo", "see it work, in a temporary folder"),
        "doctor": Entry(f"{_CLI}.ledger.care:doctor", "what is wrong here, and how to mend it"),
        "log": Entry(f"{_CLI}.ledger.log:log", "what is on record"),
        "explain": Entry(f"{_CLI}.setup.explain:explain", "what a code means, and what to do"),
        "help": Entry(
            f"{_CLI}.setup.help:show_help", "every command: `help --all`; one: `help NAME`"
        ),
    },
}
MORE: dict[str, dict[str, Entry]] = {
    "Agents": {
        "agent": Entry(
            f"{_CLI}.presence.agent:agent", "register, list, show, heartbeat, retire, ..."
        ),
        "join": Entry(
            f"{_CLI}.presence.join:join", "start under a name of your own, or go on with one"
        ),
        "scope": Entry(
            f"{_CLI}.presence.scope:scope", "who works where: reserve, release, list, compare"
        ),
        "event": Entry(
            f"{_CLI}.presence.event:event", "between agents: handoff, blocked, list, accept"
        ),
        "hook": Entry(
            f"{_CLI}.guard.hook:hook", "stop a coding tool before it edits what another holds"
        ),
        "council": Entry(
            f"{_CLI}.decisions.council:council", "a question to agents at work: ask, answer, result"
        ),
        "mcp": Entry(f"{_CLI}.mcp:mcp", "the same as tools for a model, over stdio"),
        "guard": Entry(f"{_CLI}.guard.check:guard", "may an agent write there?"),
        "mail": Entry(
            f"{_CLI}.mail.group:mail", "typed messages: write, check, send, answer, compile"
        ),
        "debate": Entry(f"{_CLI}.debate.group:debate", "argue in turns in one file; do we agree?"),
        "parliament": Entry(
            f"{_CLI}.parliament.group:parliament", "draft, debate, amend, vote, decide"
        ),
        "trace": Entry(f"{_CLI}.trace.group:trace", "provable work: propose, run, claim, verify"),
        "flow": Entry(
            f"{_CLI}.bridges.flow:flow", "lead from one protocol to another, step by step"
        ),
    },
    "The record": {
        "ledger": Entry(f"{_CLI}.ledger.group:ledger", "log, verify, export, backup, doctor, ..."),
        "story": Entry(
            f"{_CLI}.bridges.story:story", "the whole path a decision took, with every id"
        ),
        "trust": Entry(
            f"{_CLI}.ledger.trust:trust", "the keys an outsider needs to check the record"
        ),
        "artifact": Entry(f"{_CLI}.ledger.artifact:artifact", "stored files: show, erase"),
        "tick": Entry(
            f"{_CLI}.presence.agenda:tick", "let time limits that have passed take effect"
        ),
        "config": Entry(f"{_CLI}.presence.config:config", "settings that stand in the record"),
    },
    "Several machines": {
        "keep": Entry(f"{_CLI}.machines:keep", "keep this ledger for other machines, too"),
        "invite": Entry(f"{_CLI}.machines:invite", "one word that lets one more machine join"),
        "admit": Entry(f"{_CLI}.presence.admit:admit", "let in a person from another machine"),
        "machine": Entry(
            f"{_CLI}.machines:machine", "who joined: list, revoke, leave, move-here, ..."
        ),
    },
    "This machine": {
        "prompt": Entry(f"{_CLI}.presence.prompt:prompt", "one line for your shell's prompt"),
        "clean": Entry(f"{_CLI}.setup.clean:clean", "worktrees and branches that agents left"),
        "uninstall": Entry(
            f"{_CLI}.setup.uninstall:uninstall", "take the hooks out; say what stays, and where"
        ),
        "completion": Entry(
            f"{_CLI}.setup.completion:completion", "let your shell complete commands"
        ),
    },
}


@click.command(
    cls=LazyGroup,
    sections=SECTIONS,
    more=MORE,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(VERSION, prog_name="moot")
@click.option("--as", "acting", metavar="NAME", help="Act as this agent, if MOOT_AGENT names none.")
@click.option("--home", type=click.Path(path_type=Path), help="Use this workspace.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON envelope, here or after.")
@click.option("--utc", is_flag=True, help="Show whole times in UTC, as on record, here or after.")
@click.pass_context
def cli(
    ctx: click.Context, acting: str | None, home: Path | None, as_json: bool, utc: bool
) -> None:
    """Keeps coding agents off each other's files, records how they decide, and lets anyone
    check the record offline."""
    shell = ctx.ensure_object(Shell)
    shell.json = shell.json or as_json
    shell.home = home or shell.home
    if utc:
        os.environ[UTC_VARIABLE] = "1"
    if acting is not None:
        shell.act_as(acting)


def main(root: click.Command = cli) -> NoReturn:
    _prepare_streams()
    _leave(run(sys.argv[1:], root))


def _leave(code: int) -> NoReturn:
    """All is closed, so nothing in memory is taken apart: that takes longer than many a command.

    If something still runs or waits for the end, Python ends as usual.
    """
    if threading.active_count() == 1 and not atexit._ncallbacks():
        with suppress(OSError, ValueError):  # a stream that is closed or full: Python says so
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    gc.freeze()  # leaving goes faster if Python need not search what is left
    sys.exit(code)


def _prepare_streams() -> None:
    """Standard streams that were closed lead nowhere; those that are open never choke on a text."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - kept open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run(arguments: list[str], root: click.Command = cli) -> int:
    """One invocation; returns the exit code. Nothing is loaded for telemetry that is off."""
    shell = Shell()
    if not is_export_on(shell.env):
        return _run(shell, arguments, root)
    from moot.surfaces.telemetry.commands import observe_command

    return observe_command(shell, arguments, lambda: _run(shell, arguments, root))


def _run(shell: Shell, arguments: list[str], root: click.Command) -> int:
    """The only place that catches broadly."""
    arguments, shell.json = _without_flag(arguments, "--json")
    arguments, utc = _without_flag(arguments, "--utc")
    if utc:
        os.environ[UTC_VARIABLE] = "1"
    try:
        return _invoke(root, arguments, shell)
    except Unheard as error:
        return _tell_aside(shell, error)
    except MootError as error:
        return _tell(shell, error, error.exit_code)
    except KeyboardInterrupt:
        return _interrupted(shell)
    except BrokenPipeError:
        silence(sys.stdout)
        return 0
    except Exception as error:  # noqa: BLE001 - the outermost function
        return _unexpected(shell, error)
    finally:
        _close(shell)


def _invoke(root: click.Command, arguments: list[str], shell: Shell) -> int:
    name = "moot" if root is cli else root.name
    if not arguments and root is cli and not shell.json:
        arguments = ["--help"]
    try:
        code = root.main(arguments, prog_name=name, standalone_mode=False, obj=shell)
    except click.UsageError as error:
        return _usage(shell, error)
    except click.Abort:
        return _interrupted(shell)
    except click.exceptions.Exit as error:
        return error.exit_code
    return code if isinstance(code, int) else 0


def _without_flag(arguments: list[str], flag: str) -> tuple[list[str], bool]:
    """`--json` and `--utc` count before and after the subcommand, but not behind `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, theirs = arguments[:end], arguments[end:]
    return [word for word in ours if word != flag] + theirs, flag in ours


def _tell(shell: Shell, error: MootError, code: int) -> int:
    """An error in the form that was asked for; if nobody takes that, on standard error."""
    shell.problem_code = error.code
    if shell.is_operative:
        code = _name_as_operative(error, code)
    try:
        print_error(shell.command, error, shell.json)
    except BrokenPipeError:
        silence(sys.stdout)
    except Unheard as unheard:
        print_error(shell.command, error, False)
        return _tell_aside(shell, unheard)
    return code


def _name_as_operative(error: MootError, code: int) -> int:
    """Hints name the command as it was typed, and all that is not done is refused (B-34)."""
    from msgspec.structs import replace

    from moot.surfaces.terminal.typed import name_as_operative

    error.hint = name_as_operative(error.hint)
    error.findings = tuple(
        replace(one, hint=name_as_operative(one.hint or "")) for one in error.findings
    )
    return REFUSED if code in (UNPROVEN, CANNOT_RUN) else code


def _tell_aside(shell: Shell, unheard: Unheard) -> int:
    silence(sys.stdout)
    print_error(shell.command, unheard, False)
    return unheard.exit_code


def _is_stuck(stream: TextIO) -> bool:
    """What it could not write before it cannot write now."""
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _interrupted(shell: Shell) -> int:
    """A person knows what they pressed; a program waits for its envelope."""
    if not shell.json or shell.answered:
        return INTERRUPTED
    problem = MootError(
        "interrupted", "interrupted before it was done", hint="what was recorded until then stands"
    )
    return _tell(shell, problem, INTERRUPTED)


_BEFORE_THE_COMMAND: Final = {"--as": "NAME", "--home": "FOLDER"}


def _usage(shell: Shell, error: click.UsageError) -> int:
    path = error.ctx.command_path if error.ctx else "moot"
    hint = f"`{path} --help` shows how"
    shell.command = shell.command or ".".join(path.split()[1:]).replace("-", "_")
    said = " ".join(error.format_message().split())  # click lists choices on lines of their own
    option = error.option_name if isinstance(error, click.NoSuchOption) else ""
    if path.startswith("moot ") and option in _BEFORE_THE_COMMAND:
        said = f"{option} stands before the command"
        hint = f"moot {option} {_BEFORE_THE_COMMAND[option]} {path.removeprefix('moot ')} ..."
    return _tell(shell, MootError("usage", said, hint=hint), USAGE)


def _unexpected(shell: Shell, error: Exception) -> int:
    """What nobody has named: where the machine is at fault that is said, all else is a bug."""
    if isinstance(error, OSError) and _is_stuck(sys.stdout):  # click's own help
        return _tell_aside(shell, Unheard(error, done=False))
    if isinstance(error, PermissionError) and error.filename is not None:
        return _tell(shell, _not_permitted(error), CANNOT_RUN)
    return _report_bug(shell, error)


def _not_permitted(error: PermissionError) -> MootError:
    said = f"{error.filename}: {error.strerror}"
    return MootError("not_permitted", said, hint="check its permissions and those of its folder")


def _report_bug(shell: Shell, error: Exception) -> int:
    if os.environ.get("MOOT_DEBUG"):
        import traceback

        traceback.print_exception(error)
    problem = MootError(
        "internal_error",
        f"{type(error).__name__}: {error}",
        hint="this is a bug in moot; MOOT_DEBUG=1 shows where. Nothing half-done was recorded",
    )
    return _tell(shell, problem, CANNOT_RUN)


def _close(shell: Shell) -> None:
    """After an error too: pin what was written. A failure here must not hide the first one."""
    try:
        shell.close()
    except Exception as error:  # noqa: BLE001 - the outermost function
        print_error(shell.command, MootError("close_failed", str(error)), False)
