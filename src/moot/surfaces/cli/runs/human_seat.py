"""The seat of a person: what was said is shown, then each field of the reply is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from moot.surfaces.terminal.answer import visible

if TYPE_CHECKING:
    from moot.api.runs import Brief
    from moot.surfaces.terminal.shell import Shell


class ShellTerminal:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def is_present(self) -> bool:
        return self._shell.interactive()

    def show(self, brief: Brief) -> None:
        click.echo(f"\n{brief.agent}: {brief.task}", err=True)
        for quote in brief.quotes:
            place = f" ({quote.place})" if quote.place else ""
            click.echo(f"\n{visible(quote.author)}{visible(place)}, {quote.trust.value}:", err=True)
            for line in quote.text.splitlines():
                click.echo(f"  {visible(line)}", err=True)
        for finding in brief.findings:
            click.echo(f"! {visible(finding.message)}", err=True)

    def ask(self, label: str, choices: tuple[str, ...], default: str | None) -> str:
        kind = click.Choice(choices) if choices else str
        said: str = click.prompt(
            label.replace("_", " "),
            type=kind,
            default=default,
            show_default=bool(default),
            err=True,
        )
        return said
