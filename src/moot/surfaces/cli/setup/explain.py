"""`moot explain`: what a code means."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import explaining
from moot.surfaces.terminal.answer import Answer, paint, table
from moot.surfaces.terminal.shell import Shell, command


@command(None, "explain", "explain")
@click.argument("code")
def explain(shell: Shell, code: str) -> Answer:
    """What CODE means: what it says, why, and what to do.

    CODE is what stands in [brackets] behind an error, or the id of a rule. `…` stands for a value.

    Examples:
      moot explain reservation_conflict
      moot explain OPR-071
    """
    explained = explaining.explain(shell.session, code)
    return Answer(explained, lambda: _lines(explained))


def _lines(explained: explaining.ExplainedCode) -> Iterable[str]:
    for number, meaning in enumerate(explained.meanings):
        if number:
            yield ""
        rule = f" · {meaning.rule} of {meaning.protocol}" if meaning.rule else ""
        yield f"{paint(meaning.code, 'bold')}{rule} · {meaning.kind}"
        rows = [("says", meaning.sentence or "…"), ("why", meaning.why)]
        rows += [("what to do", meaning.what_to_do)] if meaning.what_to_do else []
        yield from table(rows)
