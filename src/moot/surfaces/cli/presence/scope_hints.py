"""A refusal of scopes says more to whoever typed them: how to free a scope.

What a killed program holds is in the way until it is stale. A person may end it sooner; agents are
not told, because they would end each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from moot.core.errors import Refused

if TYPE_CHECKING:
    from moot.surfaces.terminal.shell import Shell

IN_THE_WAY: Final = ("reservation_conflict", "release_forbidden")
MOST_NAMED: Final = 5


@contextmanager
def scope_hints(shell: Shell, scopes: Sequence[str]) -> Iterator[None]:
    """Whatever is refused inside gets the hint of this place; all else about it stays."""
    try:
        yield
    except Refused as refused:
        freeing = _hint_to_free(shell, scopes) if refused.code in IN_THE_WAY else ""
        refused.hint = f"{refused.hint}; {freeing}" if freeing else refused.hint
        raise


def _hint_to_free(shell: Shell, scopes: Sequence[str]) -> str:
    """What frees these scopes if their holders are dead; empty for agents, or if nobody can."""
    from moot.api.scopes import holders_to_retire

    if not (shell.interactive() or shell.session.acts_as_person()):
        return ""
    names = holders_to_retire(shell.session, scopes)
    if not names:
        return ""
    alone = "env -u MOOT_AGENT " if shell.env.get("MOOT_AGENT") else ""
    each = " && ".join(f"{alone}moot agent retire {name}" for name in names[:MOST_NAMED])
    dead = "its program is" if len(names) == 1 else "their programs are"
    more = len(names) - MOST_NAMED
    others = f" from them; {more} more hold parts of it: `moot scope list`" if more > 0 else ""
    return f"if {dead} dead, `{each}` frees it{others}"
