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
    """The time in a fixed width, so that text sorts like time; before 1970 all sort first."""
    return f"{max(at, 0):015d}"


# A sender as it may be shown; it imports nothing, so that a hook tells of new mail fast.


def label_sender(sender: str, proved: bool) -> str:
    """The name; of a message taken in from outside it is only claimed, and the label says so."""
    return sender if proved else f"{sender} (not proved)"
