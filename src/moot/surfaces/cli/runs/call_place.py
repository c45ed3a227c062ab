"""For what a participant is asked, in a few words."""

from __future__ import annotations


def call_place(what: str, subject: str) -> str:
    """`vote (rep_2: version 1)`; a subject that names what is asked stands alone."""
    plain = what.replace("_", " ")
    return subject if plain in subject else f"{plain} ({subject})"
