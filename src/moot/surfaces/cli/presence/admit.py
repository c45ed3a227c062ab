"""`moot admit`: let in a person whose key lies on another machine."""

from __future__ import annotations

from collections.abc import Iterable

import click

from moot.api import admitting as api
from moot.core.errors import Refused
from moot.surfaces.terminal.answer import Answer, say_aside, visible
from moot.surfaces.terminal.shell import Shell, command


@command(None, "admit", "admit")
@click.argument("word")
@click.option("--key", metavar="KEY", help="Done once, however often this is repeated.")
def admit(shell: Shell, word: str, key: str | None) -> Answer:
    """Let in a person whose key lies on another machine; WORD is what that machine printed.

    There `moot agent register NAME --human` made the key and printed the word. Here a registered
    person unlocks their own key and consents to that one; it then signs at once, on the machine
    where it lies. Whoever is let in may do all that people may: rule on decisions, admit others.

    At a terminal it first shows who asks, and a fingerprint. Compare that with what the other
    machine shows, by another way than the word came: whoever replaced the word on its way would
    be let in instead. A repeat changes nothing.

    Examples:
      moot admit bob#lgHEEDeA…
      moot --as operator admit bob#lgHEEDeA…
    """
    if shell.interactive():
        _require_yes(api.look_at(shell.session, word))
    admitted = api.admit(shell.session, word, key=key)
    return Answer(admitted, lambda: _lines(admitted))


def _require_yes(asked: api.AskedAdmission) -> None:
    if asked.is_admitted:
        return
    say_aside(f"{asked.name} asks to be a person here; the key is {_place(asked)}")
    say_aside(f"its fingerprint, to be compared with what {asked.name} sees: {asked.fingerprint}")
    if not click.confirm("is it the same, and are they who they say?", default=False, err=True):
        raise Refused(
            "not_admitted",
            f"{asked.name} was not admitted",
            hint="ask them for their word and fingerprint again, by another way",
        )


def _place(asked: api.AskedAdmission | api.AdmittedPerson) -> str:
    folder = f"key folder {asked.custodian[:8]}…"
    return f"on {visible(asked.machine)} ({folder})" if asked.machine else f"in {folder}"


def _lines(admitted: api.AdmittedPerson) -> Iterable[str]:
    if admitted.by is None:
        yield f"{admitted.agent} had been admitted before"
    else:
        yield f"{admitted.agent} is a person here, by the consent of {admitted.by}"
    yield f"the key is {_place(admitted)}, fingerprint {admitted.fingerprint}"
