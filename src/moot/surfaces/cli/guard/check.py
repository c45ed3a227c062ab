"""`moot guard check`: may an agent write there?"""

from __future__ import annotations

from shlex import quote

import click

from moot.api.guard import checks as api
from moot.api.typed_paths import locate_typed_paths, path_if_from_root
from moot.core.errors import Refused
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint, visible
from moot.surfaces.terminal.lazy import LazyGroup
from moot.surfaces.terminal.shell import Shell, command

SECTIONS = {"Commands": {"check": "may an agent write to these paths?"}}


@click.command("guard", cls=LazyGroup, sections=SECTIONS, no_args_is_help=False)
def guard() -> None:
    """Ask before writing."""


@command(guard, "check", "guard.check")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--agent", metavar="NAME", help="Who would write (default: whoever acts).")
def check(shell: Shell, paths: tuple[str, ...], agent: str | None) -> Answer:
    """May an agent write to these paths? Writes nothing, reserves nothing.

    Paths are read from the folder you are in, :/x from the root of the worktree. The exit code is
    1 if another agent holds one of them; if nobody is named, anyone who holds something there. A
    resource such as port:3000 may be asked about too.

    Examples:
      moot guard check src/auth.py
      moot guard check src/a.py src/b.py --agent amber-otter --json
      cd src && moot guard check a.py :/docs
      moot guard check port:3000
    """
    asked = locate_typed_paths(paths, shell.session)
    checked = api.check(shell.session, asked, agent=agent)
    if checked.allowed:
        _require_no_slip(shell, paths, agent)
    lines = [] if shell.json else [_line(each) for each in _one_by_one(shell, asked, checked)]
    return Answer(checked, lambda: lines, DONE if checked.allowed else REFUSED)


def _one_by_one(
    shell: Shell, asked: tuple[str, ...], checked: api.GuardCheck
) -> list[api.GuardCheck]:
    """For people, each path by itself: a file of several names is one line, whoever holds it."""
    if len(asked) == 1:
        return [checked]
    return [api.check(shell.session, [path], agent=checked.agent) for path in asked]


def _require_no_slip(shell: Shell, paths: tuple[str, ...], agent: str | None) -> None:
    """Whoever reads "free" begins to write: not if the path was named from the root by mistake,
    and is held there."""
    for text in paths:
        at_root = path_if_from_root(text, shell.session)
        held = [] if at_root is None else api.check(shell.session, [at_root], agent=agent).held
        if held:
            raise Refused(
                "named_from_the_root",
                f"{text} is read from the folder you are in, where nothing of it is there;"
                f" from the root {held[0].message}",
                hint=f"`moot guard check {quote(f':/{text}')}` asks for that one,"
                f" `moot guard check {quote(f'./{text}')}` for the one here",
            )


def _line(checked: api.GuardCheck) -> str:
    """The answer for one path."""
    if checked.allowed:
        return f"{paint('free', 'green')}: {visible(checked.paths[0])}"
    first, *others = checked.held
    more = f" (and {len(others)} more)" if others else ""
    return f"{paint('held', 'red')}: {visible(first.message)}{more}"
