"""`moot`: the root command. Options that every command takes, the table of commands, and the one
broad `except` that turns any bug into one line instead of a traceback."""

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
from moot.surfaces.terminal.answer import (
    CANNOT_RUN,
    REFUSED,
    UNPROVEN,
    USAGE,
    OutputFailed,
    print_error,
    silence,
)
from moot.surfaces.terminal.lazy import LazyGroup, read_sections
from moot.surfaces.terminal.local_time import VARIABLE as UTC_VARIABLE
from moot.surfaces.terminal.shell import Shell
from moot.surfaces.terminal.typed import name_as_operative
from moot.usage.telemetry.switch import is_export_on

INTERRUPTED = 130
# A new command gets its row here, or in the table of its group; CONTRIBUTING.md has all the steps.
# This is what `--help` shows; the rest is behind `moot help --all`.
SECTIONS: Final = read_sections("""
    Start here
        run      presence.run:run           run a program as an agent, alive while it runs
        status   presence.status:status     one screen: who is here, what is due
        serve    serve:serve                the same in the browser, live
        ask      decisions.ask:ask          ask several participants, and read the result
    Every day
        init     init:init                  make a workspace for this repository
        reserve  presence.scope:reserve     reserve files or folders for yourself
        release  presence.scope:release     give back what you hold
        send     mail.writing:send          send a checked message to other agents
        inbox    mail.reading:inbox         what is new for you
        handoff  presence.event:handoff     pass work on
        blocked  presence.event:blocked     say what you need to continue, and from whom
        plan     presence.event:plan        show or change the shared plan of a work item
        undo     guard:undo                 restore an earlier version of a file
        agenda   presence.agenda:agenda     what is due, for whom, by when
        decide   decisions.rulings:decide   approve, veto or amend, as a person
        outcome  decisions.rulings:outcome  say how a decision turned out
        track    decisions.rulings:track    how often each participant was right
        report   decisions.reports:report   a page about a decision, debate, trace, ...
        receipt  decisions.reports:receipt  a decision as a file that anyone can verify
        verify   ledger.reading:verify      is the record intact and complete?
        demo     demo:demo                  see it work, in a temporary folder
        doctor   ledger.keeping:doctor      what is wrong here, and how to fix it
        log      ledger.reading:log         what is on record
        explain  setup:explain              what a code means, and what to do
        help     help:show_help             every command: `help --all`; one: `help NAME`
""")
MORE: Final = read_sections("""
    Agents
        agent       presence.agents:agent      register, list, show, heartbeat, retire, ...
        join        presence.join:join         start under a new name, or continue with an old one
        scope       presence.scope:scope       who works where: reserve, release, list, compare
        event       presence.event:event       between agents: handoff, blocked, list, accept
        hook        hook:hook                  refuse edits of files that another agent holds
        council     decisions.rulings:council  a question to agents at work: ask, answer, result
        mcp         hook:mcp                   the same operations as MCP tools, over stdio
        guard       guard:guard                may an agent write there?
        mail        groups:mail                typed messages: write, check, send, answer, compile
        debate      groups:debate              argue in turns in one file; do we agree?
        parliament  groups:parliament          draft, debate, amend, vote, decide
        trace       groups:trace               provable work: propose, run, claim, verify
        flow        flow:flow                  start a step in one protocol from another's result
    The record
        ledger      groups:ledger              log, verify, export, backup, doctor, ...
        story       story:story                the whole path a decision took, with every id
        trust       ledger.reading:trust       the keys an outsider needs to check the record
        artifact    ledger.reading:artifact    stored files: show, erase
        tick        presence.agenda:tick       let time limits that have passed take effect
        config      init:config                settings of this workspace, kept in the record
    Several machines
        keep        machines:keep              share this ledger with other machines
        invite      machines:invite            print a code that lets one machine join
        admit       presence.agents:admit      let in a person from another machine
        machine     machines:machine           who joined: list, revoke, leave, move-here, ...
    This machine
        prompt      presence.prompt:prompt     one line for your shell's prompt
        clean       setup:clean                worktrees and branches that agents left
        uninstall   setup:uninstall            remove the hooks; list what stays, and where
        completion  help:completion            let your shell complete commands
""")


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
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON envelope; also valid after COMMAND."
)
@click.option("--utc", is_flag=True, help="Show full times in UTC; also valid after COMMAND.")
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
    """Exit without Python's own cleanup, which takes longer than many commands.

    Everything is closed by now. If a thread still runs or an exit handler is registered, exit
    in the usual way.
    """
    if threading.active_count() == 1 and not atexit._ncallbacks():
        with suppress(OSError, ValueError):  # a stream that is closed or full: Python says so
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    gc.freeze()  # faster exit: the last collection has nothing to search
    sys.exit(code)


def _prepare_streams() -> None:
    """Replace closed standard streams by the null device, and escape what cannot be encoded."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - kept open
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def run(arguments: list[str], root: click.Command = cli) -> int:
    """Run one invocation and return its exit code. Telemetry modules load only if it is on."""
    shell = Shell()
    if not is_export_on(shell.env):
        return _run(shell, arguments, root)
    from moot.surfaces.terminal.telemetry import observe_command

    return observe_command(shell, arguments, lambda: _run(shell, arguments, root))


def _run(shell: Shell, arguments: list[str], root: click.Command) -> int:
    """Run one invocation; the only place that catches every exception."""
    arguments, shell.json = _without_flag(arguments, "--json")
    arguments, utc = _without_flag(arguments, "--utc")
    if utc:
        os.environ[UTC_VARIABLE] = "1"
    try:
        return _invoke(root, arguments, shell)
    except OutputFailed as error:
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
    """Remove `flag` wherever it is before `--`, and tell whether it was there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    ours, theirs = arguments[:end], arguments[end:]
    return [word for word in ours if word != flag] + theirs, flag in ours


def _tell(shell: Shell, error: MootError, code: int) -> int:
    """Print an error in the requested form; on standard error if standard output is closed."""
    shell.problem_code = error.code
    if shell.is_operative:
        code = _name_as_operative(error, code)
    try:
        print_error(shell.command, error, shell.json)
    except BrokenPipeError:
        silence(sys.stdout)
    except OutputFailed as failed:
        print_error(shell.command, error, False)
        return _tell_aside(shell, failed)
    return code


def _name_as_operative(error: MootError, code: int) -> int:
    """Name `bb` commands in hints, and use exit code 1 for everything not done (B-34)."""
    from msgspec.structs import replace

    error.hint = name_as_operative(error.hint)
    error.findings = tuple(
        replace(each, hint=name_as_operative(each.hint or "")) for each in error.findings
    )
    return REFUSED if code in (UNPROVEN, CANNOT_RUN) else code


def _tell_aside(shell: Shell, failed: OutputFailed) -> int:
    silence(sys.stdout)
    print_error(shell.command, failed, False)
    return failed.exit_code


def _is_stuck(stream: TextIO) -> bool:
    """Return True if the stream still cannot be written to."""
    try:
        stream.flush()
    except OSError:
        return True
    return False


def _interrupted(shell: Shell) -> int:
    """Print an error envelope for a program; a person who pressed Ctrl-C needs no message."""
    if not shell.json or shell.answered:
        return INTERRUPTED
    problem = MootError(
        "interrupted", "interrupted before it was done", hint="what was recorded until then is kept"
    )
    return _tell(shell, problem, INTERRUPTED)


_BEFORE_THE_COMMAND: Final = {"--as": "NAME", "--home": "FOLDER"}


def _usage(shell: Shell, error: click.UsageError) -> int:
    path = error.ctx.command_path if error.ctx else "moot"
    hint = f"`{path} --help` shows how"
    shell.command = shell.command or ".".join(path.split()[1:]).replace("-", "_")
    message = " ".join(error.format_message().split())  # click puts each choice on its own line
    option = error.option_name if isinstance(error, click.NoSuchOption) else ""
    if path.startswith("moot ") and option in _BEFORE_THE_COMMAND:
        message = f"{option} belongs before the command"
        hint = f"moot {option} {_BEFORE_THE_COMMAND[option]} {path.removeprefix('moot ')} ..."
    return _tell(shell, MootError("usage", message, hint=hint), USAGE)


def _unexpected(shell: Shell, error: Exception) -> int:
    """Report a full disk, a closed stream or missing permission as such; all else is a bug."""
    if isinstance(error, OSError) and _is_stuck(sys.stdout):  # click's own help
        return _tell_aside(shell, OutputFailed(error, done=False))
    if isinstance(error, PermissionError) and error.filename is not None:
        return _tell(shell, _not_permitted(error), CANNOT_RUN)
    return _report_bug(shell, error)


def _not_permitted(error: PermissionError) -> MootError:
    message = f"{error.filename}: {error.strerror}"
    return MootError("not_permitted", message, hint="check its permissions and those of its folder")


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
    """Sign the checkpoint, after an error too. A failure here must not hide the first error."""
    try:
        shell.close()
    except Exception as error:  # noqa: BLE001 - the outermost function
        print_error(shell.command, MootError("close_failed", str(error)), False)
