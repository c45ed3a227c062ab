"""The artifact of a research thread: seven sections of numbered items, and its markdown.

An item's number is given once: a killed item stays, with who killed it and why. What is derived is
not stored: predictions for a killed hypothesis read N/A, tests stand in the order of their score.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
from immutables import Map

from moot.core.clock import Millis, to_text
from moot.core.markdown import escape_comments
from moot.protocols.mail.deltas import RESEARCH_THREAD, SHELVES, Shelf

DIMENSIONS = ("likelihood_ratio", "cost", "speed", "ambiguity")
UNKNOWN = "unknown"
NOT_APPLICABLE = "N/A"
_PLAIN_NAME = re.compile(r"\w[\w -]*")


class Kill(msgspec.Struct, frozen=True):
    by: str
    at: Millis
    reason: str


class Item(msgspec.Struct, frozen=True):
    """One numbered item; `fields` are its author's, as they stand after all edits."""

    id: str
    fields: Mapping[str, Any]
    added_by: str
    added_at: Millis
    killed: Kill | None = None

    @property
    def name(self) -> str:
        return _one_line(self.fields.get("name") or "")

    @property
    def score(self) -> int | None:
        """The sum of the four dimensions, if each is a whole number from 0 to 3."""
        said = self.fields.get("score")
        values = [said.get(one) for one in DIMENSIONS] if isinstance(said, dict) else []
        good = [one for one in values if type(one) is int and 0 <= one <= 3]
        return sum(good) if len(good) == len(DIMENSIONS) else None


class Contributor(msgspec.Struct, frozen=True):
    agent: str
    deltas: int
    program: str = UNKNOWN
    model: str = UNKNOWN


class Artifact(msgspec.Struct, frozen=True):
    """`items[section]` in the order of their numbers, killed ones included."""

    session_id: str
    created_at: Millis
    updated_at: Millis
    version: int = 0
    status: str = "draft"
    thread: Mapping[str, Any] = Map()
    items: Mapping[str, tuple[Item, ...]] = Map()
    contributors: tuple[Contributor, ...] = ()

    def active(self, section: str) -> list[Item]:
        return [item for item in self.items.get(section, ()) if item.killed is None]

    def counts(self) -> dict[str, int]:
        """How many items stand in each section but the research thread."""
        shelves = (one for one in SHELVES if one != RESEARCH_THREAD.id)
        return {section: len(self.active(section)) for section in shelves}


def new_artifact(session_id: str, created_at: Millis, question: str = "") -> Artifact:
    """An empty one; the research question of the KICKOFF begins its thread."""
    thread = Map({"statement": question}) if question else Map()
    return Artifact(session_id, created_at, created_at, thread=thread)


# Markdown -----------------------------------------------------------------------------------------


def artifact_markdown(artifact: Artifact) -> str:
    """The whole artifact as one document with front matter."""
    parts = [_front_matter(artifact)]
    for number, shelf in enumerate(SHELVES.values(), 1):
        content = "\n".join(_shelf(artifact, shelf)) or "None registered.\n"
        parts.append(f"\n## {number}. {shelf.heading}\n\n{content}")
    return "".join(parts)


def _front_matter(artifact: Artifact) -> str:
    lines = [
        "---",
        f"session_id: {_quoted(artifact.session_id)}",
        f"created_at: {_quoted(to_text(artifact.created_at))}",
        f"updated_at: {_quoted(to_text(artifact.updated_at))}",
        f"version: {artifact.version}",
        "contributors:" if artifact.contributors else "contributors: []",
    ]
    for one in artifact.contributors:
        lines += [
            f"  - agent: {_quoted(one.agent)}",
            f"    program: {_quoted(one.program)}",
            f"    model: {_quoted(one.model)}",
        ]
    return "\n".join([*lines, f"status: {artifact.status}", "---", ""])


def _quoted(text: str) -> str:
    """A JSON string is a YAML string too."""
    return json.dumps(text)


def _shelf(artifact: Artifact, shelf: Shelf) -> Iterator[str]:
    if shelf is RESEARCH_THREAD:
        if artifact.thread:
            yield "".join(_field(name, value) for name, value in sorted(artifact.thread.items()))
        return
    for item in _ranked(artifact.items.get(shelf.id, ())):
        yield _item(item, shelf, artifact)


def _ranked(items: tuple[Item, ...]) -> list[Item]:
    """What stands before what was killed; the better scored first, else in order of number."""
    return sorted(items, key=lambda item: (item.killed is not None, -(item.score or 0)))


def _item(item: Item, shelf: Shelf, artifact: Artifact) -> str:
    name = f": {item.name}" if item.name else ""
    ended = " (killed)" if item.killed else ""
    lines = [f"### {item.id}{name}{ended}\n\n"]
    fields = {key: value for key, value in item.fields.items() if key != "name"}
    if isinstance(fields.get("predictions"), dict):
        fields["predictions"] = _predictions(fields["predictions"], artifact)
    asked = [name for name in shelf.required if name in fields]
    others = sorted(fields.keys() - set(asked))
    lines += (_field(name, fields[name]) for name in (*asked, *others))
    if item.score is not None:
        lines.append(_field("total score", f"{item.score} of {3 * len(DIMENSIONS)}"))
    lines.append(_field("added", f"{item.added_by}, {to_text(item.added_at)}"))
    if item.killed:
        killed = item.killed
        lines.append(_field("killed", f"{killed.by}, {to_text(killed.at)}"))
        lines.append(_field("reason", killed.reason))
    return "".join(lines)


def _predictions(said: dict[str, Any], artifact: Artifact) -> dict[str, Any]:
    """For a hypothesis that was killed nothing is predicted any more."""
    dead = {one.id for one in artifact.items.get("hypothesis_slate", ()) if one.killed}
    return {key: NOT_APPLICABLE if key in dead else value for key, value in said.items()}


def _field(name: str, value: Any) -> str:
    """One list item. Every line of the value is indented: it cannot open a section. A name that
    could pass for another field and its value is quoted."""
    text = value if isinstance(value, str) else _spoken(value)
    lines = escape_comments(text).replace("\r\n", "\n").replace("\r", "\n").strip().split("\n")
    label = name if _PLAIN_NAME.fullmatch(name) else json.dumps(_one_line(name), ensure_ascii=False)
    return f"- {label}: " + "\n  ".join(lines).rstrip() + "\n"


def _spoken(value: Any) -> str:
    """A list of texts reads as such; anything else is JSON."""
    if isinstance(value, list) and value and all(isinstance(one, str) for one in value):
        return ", ".join(_one_line(one) for one in value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _one_line(text: Any) -> str:
    said = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False, sort_keys=True)
    return " ".join(escape_comments(said).split())
