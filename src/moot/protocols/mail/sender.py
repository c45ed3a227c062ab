"""A sender as it may be shown; it imports nothing, so that a hook tells of new mail fast."""

from __future__ import annotations


def label_sender(sender: str, proved: bool) -> str:
    """The name; of a message taken in from outside it is only claimed, and the label says so."""
    return sender if proved else f"{sender} (not proved)"
