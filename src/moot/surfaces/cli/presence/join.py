"""`moot join` (also `bb-init`): start a session under a new name, or continue with an old one.

Every way to start has its flag (OPR-098). `bb-init` reads scopes from the root of the worktree,
whatever the current folder is, as its document says (B-11). It remarks on a scope that was probably
meant relative to the current folder, and refuses one outside of the worktree with a hint.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from moot.api.guard.asked_paths import count_existing_parts, hint_named_from_root, scope_from_folder
from moot.api.presence import joining
from moot.api.typed_paths import read_typed_scopes, remark_on_missing, typed_scope
from moot.core.errors import Refused
from moot.core.findings import Finding, Severity
from moot.surfaces.cli.presence.scope import scope_hints
from moot.surfaces.terminal.answer import Answer, remarks
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.api.session import Place, Session

_OPTIONS = (  # OPR-081, OPR-083, OPR-082: the three ways of the document.
    click.option("--non-interactive", is_flag=True, help="Never ask; fail if a choice is needed."),
    click.option("--register", metavar="NAME", help="Start under this new name."),
    click.option("--adopt", metavar="AGENT", help="Continue the unfinished work of this agent."),
    click.option("--scope", "scopes", multiple=True, metavar="SCOPE", help="Reserve this."),
    click.option(
        "--work", "--bead", "work", metavar="ID", help="The work item (default: the branch)."
    ),
)


def join_options(function: Callable[..., Answer]) -> Callable[..., Answer]:
    """Add the options that `moot join` and `bb-init` share."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


@command(None, "join", "join")
@join_options
def join(shell: Shell, scopes: tuple[str, ...], **ways: Any) -> Answer:
    """Join the work in this repository under a name of your own.

    Without options you get a new name; if there is unfinished work, you choose whether to continue
    it. Adopting is possible only if files in that agent's scope are uncommitted, or it owns a work
    item in progress. A SCOPE is read from the folder you are in, :/x from the root of the
    worktree.

    Examples:
      moot join
      moot join --register amber-otter --scope src/auth
      moot join --adopt amber-otter
    """
    names = read_typed_scopes(scopes, shell.session)
    return answer_join(shell, names, lambda: remark_on_missing(names, shell.session.place), **ways)


def answer_join(
    shell: Shell,
    scopes: tuple[str, ...],
    remark_on_scopes: Callable[[], Iterable[Finding]],
    *,
    non_interactive: bool,
    register: str | None,
    adopt: str | None,
    work: str | None,
) -> Answer:
    """Join, with scopes that are named from the root."""
    if register is not None and adopt is not None:
        raise click.UsageError("--register and --adopt exclude each other")
    may_ask = not non_interactive and shell.interactive()  # OPR-084
    with scope_hints(shell, scopes):
        joined = joining.join(
            shell.session,
            register=register,
            adopt=adopt,
            scopes=scopes,
            work=work,
            choose=_choose if may_ask else None,
            name_unfinished_work=_name_unfinished_work if may_ask else None,
        )
    if not joined.adopted:
        joined = structs.replace(joined, findings=[*joined.findings, *remark_on_scopes()])
    return Answer(joined, lambda: _lines(joined))


def _choose(candidates: Sequence[joining.AdoptionCandidate]) -> str | None:
    for candidate in candidates:
        click.echo(f"  {candidate.agent}: {candidate.evidence}", err=True)
    name: str = click.prompt(
        "continue as one of these, or start under a new name?",
        type=click.Choice([*(candidate.agent for candidate in candidates), "new"]),
        default="new",
        err=True,
    )
    return None if name == "new" else name


def _name_unfinished_work(reasons: Sequence[Finding]) -> str:
    for finding in reasons:
        click.echo(f"  {finding.message}", err=True)
    text: str = click.prompt(
        "a scope, from the root, or work item of that session (empty: give up)",
        default="",
        show_default=False,
        err=True,
    )
    return text.removeprefix(":/")


def _lines(joined: joining.Joined) -> Iterable[str]:
    if joined.event is not None:
        yield f"you continue as {joined.agent}: {joined.event['payload']['evidence']}"
    else:
        yield f"you are {joined.agent}"
    if joined.reserved:
        yield f"{joined.agent} holds {', '.join(joined.reserved)}"
    yield f"to act as {joined.agent} in this shell, run:"
    yield joining.export_line(joined.agent, joined.epoch)
    yield from remarks(joined.findings)


def remark_on_misread(scopes: Iterable[str], place: Place) -> Iterator[Finding]:
    """A remark on each scope that is probably meant relative to the current folder."""
    for text in scopes:
        beside = scope_from_folder(text, place)
        if beside is None:
            continue
        path = text.removesuffix("*")
        if os.path.normpath(path) == os.curdir and beside != ".":
            yield _remark(
                text,
                "whole_project",
                f"{text} is the whole project, not the folder you are in",
                f"`moot reserve {typed_scope(beside)}` is this folder,"
                " `moot release :/` gives the rest back",
            )
        elif count_existing_parts(path, place.folder) > count_existing_parts(path, place.worktree):
            yield _remark(
                text,
                "named_from_the_root",
                f"{text} was read from the root of the worktree, where it does not exist",
                f"`moot reserve {typed_scope(beside)}` is the one in this folder",
            )


@contextmanager
def hints_from_root(session: Session, scopes: Sequence[str]) -> Iterator[None]:
    """Add to a refused scope outside of the worktree the name that was probably meant."""
    try:
        yield
    except Refused as refused:
        if refused.code == "scope_outside":
            way = hint_named_from_root(scopes, session.place, "bb-init --scope")
            refused.hint = way or refused.hint
        raise


def _remark(text: str, code: str, message: str, hint: str) -> Finding:
    return Finding(
        rule="B-11",
        code=code,
        severity=Severity.WARNING,
        message=message,
        where=text,
        hint=hint,
    )
