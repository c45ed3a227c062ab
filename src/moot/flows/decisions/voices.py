"""What participants said, as a page quotes them: in full, with the tool beside the name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import Any, Final

from moot import pages as page
from moot.flows.decisions.receipt_tables import TONES

# What a kind of participant is to a reader, where neither model nor program says more.
_KINDS: Final = {"human": "a person", "rules": "a fixed rule", "script": "a script"}
_CERTAINTY: Final = "{} sure"


def describe_tool(seat: dict[str, Any]) -> str:
    """By what a seat was played: `claude-opus-4`, `claude`, `a script`, `a person`."""
    if seat["model"]:
        return str(seat["model"])
    if seat["kind"] in _KINDS:
        return _KINDS[seat["kind"]]
    program = str(seat["what"] or "").partition(":")[2].split()
    return PurePath(program[0]).name if program else str(seat["kind"])


def tools_by_name(content: dict[str, Any]) -> dict[str, str]:
    """By what each was played; left out where it is the name itself."""
    tools = {seat["agent"]: describe_tool(seat) for seat in content["participants"]}
    return {name: tool for name, tool in tools.items() if tool != name}


def quote_voices(voices: Iterable[dict[str, Any]], tools: dict[str, str]) -> tuple[page.Quote, ...]:
    """Each in full: what it comes to in one line, then the reasons."""
    return tuple(
        page.Quote(
            author=voice["agent"],
            text=_reasons(voice),
            stance=voice["stance"],
            tone=TONES.get(voice["stance"], "plain"),
            note=", ".join(_notes(voice)),
            refs=tuple(voice["evidence"]),
            title="" if voice["text"].startswith(voice["summary"]) else voice["summary"],
            tool=tools.get(voice["agent"], ""),
            markdown=True,
        )
        for voice in voices
    )


def _notes(voice: dict[str, Any]) -> Iterator[str]:
    if voice["sure"]:
        yield _CERTAINTY.format(voice["sure"])
    yield f"round {voice['round']}"


def _reasons(voice: dict[str, Any]) -> str:
    return str(voice["text"].strip() or voice["summary"])
