"""`moot guard check`: may an agent write there?"""

from __future__ import annotations

import click

from moot.api.guard import checks as api
from moot.surfaces.terminal.answer import DONE, REFUSED, Answer, paint
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

    Paths are relative to the root of the worktree, like all scopes; one that may mean another
    file beside you is refused. The exit code is 1 if another agent holds one of them; if nobody is
    named, anyone who holds something there. A resource such as port:3000 may be asked about too.

    Examples:
      moot guard check src/auth.py
      moot guard check src/a.py src/b.py --agent amber-otter --json
      moot guard check port:3000
    """
    checked = api.check(shell.session, paths, agent=agent)
    return Answer(checked, lambda: _lines(checked), DONE if checked.allowed else REFUSED)


def _lines(checked: api.GuardCheck) -> list[str]:
    """One line for each path, whoever holds it."""
    shown = dict.fromkeys(checked.paths)
    lines = [_line(path, [held for held in checked.held if held.path == path]) for path in shown]
    other = [held for held in checked.held if held.path not in shown]
    return [*lines, *(f"{paint('held', 'red')}: {held.message}" for held in other)]


def _line(path: str, held: list[api.HeldPath]) -> str:
    if not held:
        return f"{paint('free', 'green')}: {path}"
    more = f" (and {len(held) - 1} more)" if len(held) > 1 else ""
    return f"{paint('held', 'red')}: {held[0].message}{more}"
