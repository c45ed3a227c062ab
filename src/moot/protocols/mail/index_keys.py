"""Names of mail's index spaces and keys; it imports nothing, so that a hook reads an inbox fast."""

from __future__ import annotations

from typing import Final

INBOX: Final = "mail.inbox"
ANSWERS: Final = "mail.answers"
MESSAGES: Final = "mail.messages"
LONG_MESSAGES: Final = "mail.long"
MESSAGES_OF_EVENTS: Final = "mail.events"
IMPORTED_MESSAGES: Final = "mail.outside"
WORK_ITEMS: Final = "mail.items"
OPEN: Final = "open"


def inbox_prefix(name: str, epoch: int) -> str:
    """Return the beginning of the keys of everything that was sent to one holder of a name."""
    return f"{name}/{epoch}/"


def inbox_key(name: str, epoch: int, at: int, id: str) -> str:  # noqa: A002 - a message's id
    """Return a key that sorts by time, and by id within the same millisecond."""
    return f"{inbox_prefix(name, epoch)}{time_key(at)}/{id}"


def answer_key(id: str, name: str, epoch: int) -> str:  # noqa: A002
    return f"{id}/{name}/{epoch}"


def time_key(at: int) -> str:
    """Return the time in a fixed width, so that text sorts like time; before 1970 comes first."""
    return f"{max(at, 0):015d}"


def label_sender(sender: str, proved: bool) -> str:
    """Return the name, marked as not proved if a message from outside only claims it."""
    return sender if proved else f"{sender} (not proved)"
