"""The seat of a person: what was said is shown, then each field of the reply is asked for.

A person is asked as one asks a person. What a model is told about the form of its reply is left
out: the terminal asks for one thing after the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from moot.surfaces.terminal.answer import paint, visible

if TYPE_CHECKING:
    from moot.api.runs import Brief
    from moot.surfaces.terminal.shell import Shell

# What is asked for, to a person; anything else is put as it is put to everybody.
_TASKS: Final = {
    "first_answer": "Your own answer, please. The others do not hear it before they have given "
    "theirs.",
    "entry": "It is your turn: where do you stand on the motion, and why?",
    "vote": "It is your turn to vote.",
}
_LABELS: Final = {
    "answer": "Your answer, in one sentence",
    "why": "Why",
    "stance": "Where you stand",
    "vote": "Your vote",
    "confidence": "How sure you are, from 0 (not at all) to 1 (entirely)",
    "summary": "What it comes to, in one sentence",
    "body": "Your reasons",
    "reasoning": "Your reasons",
    "evidence": "What it rests on: files, addresses (n/a: nothing)",
    "action_requested": "What you ask the others to do (n/a: nothing)",
    "motives": "What matters most to you, in a word or two each",
}
_SURE: Final = "confidence"
# How what was said before is headed, where the product's own word for it means little.
_HEADINGS: Final = {"the question": "The question", "context": "What you should know"}


class ShellTerminal:
    def __init__(self, shell: Shell) -> None:
        self._shell = shell

    def is_present(self) -> bool:
        return self._shell.interactive()

    def show(self, brief: Brief) -> None:
        _say(f"\n{paint(f'{brief.agent}, you are asked.', 'bold')}")
        for quote in brief.quotes:
            place = f" ({quote.place})" if quote.place else ""
            heading = _HEADINGS.get(quote.author)
            said = heading or f"{quote.author}{place}, {quote.trust.value}"
            _say(f"\n{visible(said)}:")
            for line in quote.text.splitlines():
                _say(f"  {visible(line)}")
        for finding in brief.findings:
            _say(f"! {visible(finding.message)}")
        _say(f"\n{_TASKS.get(brief.what, brief.task)}")

    def ask(self, label: str, choices: tuple[str, ...], default: str | None) -> str:
        kind: Any = click.Choice(choices) if choices else str
        if label == _SURE:
            kind = click.FloatRange(0, 1)
        said = click.prompt(
            _LABELS.get(label, label.replace("_", " ")),
            type=kind,
            default=default,
            show_default=bool(default),
            err=True,
        )
        return str(said)


def _say(line: str) -> None:
    click.echo(line, err=True)
