"""Checks on a command before an event is made of it: its texts, and what was seen outside.

The fields of an event are typed, those of a command may hold any text. These checks are not part
of an audit: of a command that fails them no event was ever made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from moot.core import secrets
from moot.core.machine import Command
from moot.core.record import MAX_ARTIFACTS, MAX_TEXT_BYTES
from moot.protocols.trace import commands as ask
from moot.protocols.trace.case import CommandCase
from moot.protocols.trace.checks import KID, Breaches
from moot.protocols.trace.model import AuditVerdict, Consent, Profile, Review, Role

MAX_BYTES: Final = 40_000
MAX_ITEMS: Final = 500
# An event holds at most so many citations; what is also kept in the state is bounded tighter.
MAX_ITEMS_BY_FIELD: Final = {
    "outputs": MAX_ARTIFACTS,
    "evidence": MAX_ARTIFACTS,
    "required_tools": 64,
    "writes": 128,
    "env": 64,
}


def list_texts(value: Any) -> Iterator[str]:
    """Every text in a command, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from list_texts(item)
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from list_texts(getattr(value, name))


def unreadable_text(case: CommandCase[Command]) -> Breaches:
    for text in list_texts(case.command):
        if not text.isascii() and not text.isprintable() and _is_broken(text):
            yield "a text holds half a character", None
            return


def _is_broken(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def too_long(case: CommandCase[Command]) -> Breaches:
    """An event holds at most 64 KiB with all that stands around it."""
    sizes = [len(text.encode("utf-8", "replace")) for text in list_texts(case.command)]
    if sizes and (max(sizes) > MAX_TEXT_BYTES or sum(sizes) + 4 * len(sizes) > MAX_BYTES):
        yield f"{sum(sizes)} bytes of text", None


def too_many_items(case: CommandCase[Command]) -> Breaches:
    for name in case.command.__struct_fields__:
        value = getattr(case.command, name)
        most = MAX_ITEMS_BY_FIELD.get(name, MAX_ITEMS)
        if isinstance(value, tuple) and len(value) > most:
            yield f"{len(value)} given, {most} allowed", name


def require_fields(*names: str) -> Callable[[CommandCase[Any]], Breaches]:
    def check(case: CommandCase[Any]) -> Breaches:
        for name in names:
            if getattr(case.command, name) is None:
                yield f"{name} is required", name

    return check


def _must_be_one_of(
    kinds: type[Any], name: str, *but: str
) -> Callable[[CommandCase[Any]], Breaches]:
    allowed = [str(word) for word in kinds if str(word) not in but]

    def check(case: CommandCase[Any]) -> Breaches:
        word = getattr(case.command, name)
        if word not in allowed:
            yield f"{word[:40]!r} is none of {', '.join(allowed)}", name

    return check


bad_review: Final = _must_be_one_of(Review, "status", Review.PENDING)
bad_consent: Final = _must_be_one_of(Consent, "status", Consent.PENDING)
bad_verdict: Final = _must_be_one_of(AuditVerdict, "status")
bad_profile: Final = _must_be_one_of(Profile, "profile")
bad_role: Final = _must_be_one_of(Role, "role")


def no_command(case: CommandCase[ask.SignIntent]) -> Breaches:
    command = case.command.command
    if not command or not command[0].strip() or any("\x00" in word for word in command):
        yield "", "command"


def no_risk(case: CommandCase[ask.SignIntent]) -> Breaches:
    if not case.command.risk.strip():
        yield "", "risk"


def secret_in_input(case: CommandCase[ask.SignIntent]) -> Breaches:
    command = case.command
    spoken = (" ".join(command.command), *list_texts(command))
    for name in secrets.find_secrets(case.state.policy.secrets, spoken):
        yield f"it looks like a secret: {name}", "command"


def bad_variable_name(case: CommandCase[ask.SignIntent]) -> Breaches:
    for name in case.command.env:
        if not name or "=" in name or "\x00" in name:
            yield f"{name[:40]!r} is no name of a variable", "env"


def evidence_differs(case: CommandCase[ask.IssueClaim | ask.ChallengeClaim]) -> Breaches:
    for cited in case.command.evidence:
        if cited.differs or (cited.ref is not None and cited.ref.sha256 != cited.sha256):
            yield f"the bytes stored as {cited.sha256[:12]} have another hash", "evidence"


def evidence_absent(case: CommandCase[ask.ChallengeClaim]) -> Breaches:
    for cited in case.command.evidence:
        if cited.ref is None and not cited.differs:
            yield f"no bytes are stored as {cited.sha256[:12]}", "evidence"


def bad_kid(case: CommandCase[ask.RotateKey]) -> Breaches:
    if not KID.match(case.command.kid):
        yield f"{case.command.kid[:40]!r} is no key", "kid"


def no_evidence_of_death(case: CommandCase[ask.RecoverExecution]) -> Breaches:
    """TRC-061: a recovery says what shows that the process is gone."""
    if not any(text.strip() for text in case.command.evidence):
        yield "", "evidence"
