"""The context of a command: who acts, where the workspace is, how answers are printed.

A command is a function that takes the `Shell` first and returns an `Answer`; `command` turns it
into a click command whose errors and output follow the contract. Only `main.run` catches broadly.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from moot.core.errors import Refused, Unavailable
from moot.store.files import MAX_BYTES, decode_text, read_bounded, require_bounded
from moot.surfaces.environment import read_epoch, read_stale_time
from moot.surfaces.terminal.answer import (
    Answer,
    finding_line,
    paint,
    print_answer,
    say_aside,
    silence,
    visible,
)
from moot.surfaces.terminal.output import find_outputs
from moot.surfaces.terminal.typed import hints_naming

if TYPE_CHECKING:
    from moot.api.session import Session
    from moot.core.debug import DebugLog
    from moot.keys.folder import KeyFolder, Passphrase
    from moot.workspace.workspace import Workspace


def clean_docstring(text: str) -> str:
    """Remove common indentation as `inspect.cleandoc` does, without loading `inspect` (slow)."""
    first, *rest = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.lstrip(), *(line[margin:] for line in rest)]).strip("\n")


class Shell:
    """One invocation. Everything from the environment is read here and nowhere else."""

    def __init__(self) -> None:
        self.env = dict(os.environ)
        self.json = False
        self.home: Path | None = _path(self.env.get("MOOT_HOME"))
        self.acting: str | None = self.env.get("MOOT_AGENT") or None
        self.is_operative = False  # `bb` or `bb-init` was typed, and not `moot`
        self.typed_name = ""  # who acts, if only --as says so
        self.command = ""
        self.answered = False  # True as soon as the answer is being printed
        self.result: object = None  # the data of the answer, once there is one
        self.problem_code = ""  # the code of the error, if the command failed
        self.says_if_old = False  # the answer itself says whether it may be old
        self.debug: DebugLog | None = None
        if self.env.get("MOOT_DEBUG"):
            from moot.system.debug import DebugLines

            self.debug = DebugLines()
        self._session: Session | None = None

    def act_as(self, name: str) -> None:
        """Act under the name that was typed; refused if the environment names another agent."""
        if self.acting not in (None, name):
            raise Refused(
                "not_you",
                f"you are {self.acting}; this would act as {name}",
                hint="omit --as: MOOT_AGENT says who acts here",
            )
        if self.acting is None:
            self.typed_name = name
        self.acting = name

    @property
    def session(self) -> Session:
        """The session for the library's operations; the command closes it, with a checkpoint."""
        if self._session is None:
            from moot.api.session import Session

            stale_millis, remarks = read_stale_time(self.env)
            self._session = Session(
                self.cwd,
                acting=self.acting,
                epoch=read_epoch(self.env, self.acting),
                home=self.home,
                keys=self.folder,
                ask_passphrase=self.ask_passphrase if self._can_ask_passphrase() else None,
                stale_millis=stale_millis,
                remarks=remarks,
                clock=self.env.get("MOOT_CLOCK", ""),
                env=self.env,
                read_only=self._only_reads,
                debug=self.debug,
                ends_exited=True,
                is_at_terminal=_is_at_terminal,
            )
        return self._session

    def _only_reads(self) -> bool:
        from moot.api.operation import only_reads

        return only_reads(self.command)

    @property
    def folder(self) -> KeyFolder:
        from moot.workspace.workspace import key_folder

        return key_folder(self.env)

    @property
    def cwd(self) -> Path:
        try:
            return Path.cwd()
        except OSError:
            raise Unavailable(
                "no_folder", "the current folder was deleted", hint="cd to the project first"
            ) from None

    @property
    def place(self) -> Path:
        """The workspace's folder, for commands that only read it."""
        from moot.workspace.find import require_ledger

        return require_ledger(self.found)

    @property
    def found(self) -> Path:
        """The same, even if the ledger in it is missing."""
        return self.session.workspace_folder

    @property
    def workspace(self) -> Workspace:
        return self.session.workspace

    def close(self) -> None:
        if self._session is not None:
            self._tell_remarks(self._session)
            self._tell_if_old(self._session)
            self._session.close()
            self._session = None

    def _tell_remarks(self, session: Session) -> None:
        """Print what was wrong with the settings, unless the answer contains it."""
        answered = getattr(self.result, "findings", ())
        for remark in session.remarks:
            if remark not in answered:
                say_aside(finding_line(remark, sys.stderr))

    def _tell_if_old(self, session: Session) -> None:
        """Say that a joined machine's copy may be old if its keeper did not answer.

        Nothing is printed if an error or the answer itself says so.
        """
        why = session.why_old()
        if why is not None and self.problem_code != why.code and not self.says_if_old:
            say_aside(paint(f"this may be old: {visible(str(why))}", "yellow", sys.stderr))

    def actor(self, named: str | None = None) -> str:
        return self.session.actor(named)

    def interactive(self) -> bool:
        return _is_at_terminal() and not self.json

    def _can_ask_passphrase(self) -> bool:
        return "MOOT_PASSPHRASE_FILE" in self.env or self.interactive()

    def ask_passphrase(self, name: str) -> Passphrase | None:
        """Read MOOT_PASSPHRASE_FILE, else ask at a terminal, else return None: never hang."""
        from moot.keys.folder import Passphrase

        file = self.env.get("MOOT_PASSPHRASE_FILE")
        if file:
            return Passphrase(_passphrase_in(file), attended=False)
        if not self.interactive():
            return None
        typed = click.prompt(f"passphrase of {name}", hide_input=True, err=True)
        return Passphrase(typed, attended=True)

    def new_passphrase(self, name: str, may_wait: bool = False) -> str | None:
        """Get a passphrase for a new key, typed twice at a terminal.

        Returns None if the user typed nothing: the key is made later, if it `may_wait`.
        """
        file = self.env.get("MOOT_PASSPHRASE_FILE")
        if file:
            return _passphrase_in(file)
        if not self.interactive():
            return None
        later = "; empty: later" if may_wait else ""
        while True:
            typed: str = click.prompt(
                f"new passphrase for {name} (8 characters or more{later})",
                hide_input=True,
                err=True,
                default="",
                show_default=False,
                value_proc=_checked_passphrase,  # before it is typed again
            )
            if not typed:
                return None
            if typed == click.prompt("repeat it", hide_input=True, err=True):
                return typed
            click.echo("Error: the two are not the same", err=True)


def _checked_passphrase(text: str) -> str:
    """Return the passphrase if it is long enough or empty; else click shows why and asks again."""
    from moot.keys.passphrase_lock import require_long_passphrase

    if text:
        try:
            require_long_passphrase(text)
        except Refused as error:
            raise click.UsageError(f"{error}: {error.hint}") from None
    return text


def _is_at_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


def text_argument(value: str) -> str:
    """Read an argument as text: `-` reads standard input, `@file` reads a file.

    The newline that `echo` and editors put after the last line is removed.
    """
    if value == "-":
        return _without_end(document("-"))
    if value.startswith("@"):
        return _without_end(document(value[1:]))
    return value


def _passphrase_in(file: str) -> str:
    """Read the passphrase from a file that only its owner may read, or from a pipe."""
    from moot.keys.passphrase_lock import require_private_file

    require_private_file(Path(file))
    return document(file).rstrip("\r\n")


def document(file: str) -> str:
    """Return the text of a file, or of standard input for `-`, unchanged."""
    return decode_text(document_bytes(file), "standard input" if file == "-" else file)


def document_bytes(file: str) -> bytes:
    """Return the same as bytes: some commands report invalid text as a finding."""
    if file == "-":
        return require_bounded(sys.stdin.buffer.read(MAX_BYTES + 1), "standard input")
    return read_bounded(Path(file))


def _without_end(text: str) -> str:
    return text.removesuffix("\n").removesuffix("\r") if text.endswith("\n") else text


def _path(text: str | None) -> Path | None:
    return Path(text) if text else None


def command(
    group: click.Group | None, name: str, dotted: str, **options: Any
) -> Callable[[Callable[..., Answer]], click.Command]:
    """Register `function(shell, ...) -> Answer` as the click command `name`."""

    def register(function: Callable[..., Answer]) -> click.Command:
        def invoke(**values: Any) -> None:
            shell = click.get_current_context().find_object(Shell)
            assert shell is not None
            shell.command = dotted
            with hints_naming(parameters, values, shell.typed_name):
                outputs = tuple(find_outputs(parameters, values))
                if outputs:
                    from moot.api.guard.checks import require_free_output

                    require_free_output(shell.session, outputs)
                answer = function(shell, **values)
            shell.result, shell.says_if_old = answer.data, answer.says_if_old
            shell.close()
            shell.answered = True
            try:
                print_answer(dotted, answer, shell.json)
            except BrokenPipeError:  # `| head` has read enough, and the work is done
                silence(sys.stdout)
            click.get_current_context().exit(answer.exit_code)

        # click's decorators have stored the options in this attribute.
        parameters = list(reversed(getattr(function, "__click_params__", [])))
        made = click.Command(
            name, callback=invoke, params=parameters, help=help_of(function), **options
        )
        if group is not None:
            group.add_command(made)
        return made

    return register


def help_of(function: Callable[..., Any]) -> str:
    """Return the docstring; what follows `Examples:` keeps its line breaks."""
    text = clean_docstring(function.__doc__ or "")
    return text.replace("Examples:\n", "\b\nExamples:\n")
