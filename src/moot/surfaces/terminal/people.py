"""Acts reserved to people: the human key that must consent."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.surfaces.terminal.shell import Shell


def a_persons_name(shell: Shell, what: str) -> str:
    return shell.session.person(what)


def require_no_agent(shell: Shell, what: str) -> None:
    shell.session.require_no_agent(what)
