"""The common body of an event, recognised by its one spelling.

Keys are sorted and nothing is optional, so a canonical body is a fixed text around a few values.
Matching that text checks form and fields at once and leaves only `data` to the JSON parser, which
halves the cost of a check. It recognises less than section 3 allows, never more: what it does not
recognise (the registry, escapes in short strings, very large numbers) is read the long way.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from moot.verify import canonical, field_rules


class EventParts(NamedTuple):
    """The values of a body that a check needs; `data` was checked and is dropped."""

    origin: str
    stream: str
    seq: int
    prev: str
    reg: int | None
    name: str
    epoch: int
    kid: str
    cites: tuple[tuple[str, int], ...]
    type: str


def recognise_body(payload: bytes) -> EventParts | None:
    """The parts of a body that is canonical and within section 3, or `None` if in doubt."""
    try:
        text = payload.decode("utf-8")
    except UnicodeDecodeError:
        return None
    head = _BEFORE_DATA(text)
    # The last one is the body's own: after it come no objects, and no string can hold a bare quote.
    split = text.rfind(',"key":')
    tail = _AFTER_DATA(text, split)
    if head is None or tail is None or not _is_data(text[head.end() : split]):
        return None
    epoch, name, kid, artifacts = head.groups()
    origin, prev, reg, seq, stream, _protocol, kind = tail.groups()
    cites = tuple([(sha256, int(size)) for sha256, size in _CITES(artifacts)]) if artifacts else ()
    if len(cites) > 256 or len(kind) > 96:
        return None
    return EventParts(origin, stream, int(seq), prev, int(reg), name, int(epoch), kid, cites, kind)


def _is_data(text: str) -> bool:
    """Section 3: `data` is an object; it stands one level deep in the body."""
    if not text.startswith("{"):
        return False
    try:
        canonical.parse_text(text, canonical.MAX_DEPTH - 1)
    except canonical.NotCanonical:
        return False
    return True


def _short_text_or_null(longest: int) -> str:
    """`null` or a string of 1 to `longest` characters, none of them escaped."""
    return rf'(?:null|"[^"\\\x00-\x1f]{{1,{longest}}}")'


_COUNT = "(?:0|[1-9][0-9]{0,14})"
_ARTIFACT = (
    rf'\{{"media_type":"[^"\\\x00-\x1f]{{1,127}}","sha256":"[0-9a-f]{{64}}","size":{_COUNT}\}}'
)
_BEFORE_DATA = re.compile(
    r'\{"actor":\{"epoch":([1-9][0-9]{0,14}),'
    r'"id":"(?=[a-z0-9-]{3,48}")([a-z0-9]+(?:-[a-z0-9]+)*)",'
    rf'"kid":"([0-9a-f]{{32}})","role":{_short_text_or_null(64)}\}},'
    rf'"artifacts":\[((?:{_ARTIFACT}(?:,{_ARTIFACT})*)?)\],'
    rf'"at":"{field_rules.MOMENT_EXPRESSION}","cause":(?:null|"[0-9a-f]{{64}}"),'
    rf'"corr":{_short_text_or_null(128)},"data":'
).match
_AFTER_DATA = re.compile(
    rf',"key":{_short_text_or_null(300)},"origin":"(moot\.ledger/[0-9a-f]{{32}})",'
    rf'"prev":"([0-9a-f]{{64}})","reg":({_COUNT}),"seq":({_COUNT}),'
    r'"stream":"(?!registry["/])((?P<protocol>[a-z]{1,32})(?:/[A-Za-z0-9._:@+~-]{1,200})?)",'
    r'"type":"((?P=protocol)\.[a-z][a-z0-9_]*)","v":1\}'
).fullmatch
_CITES = re.compile(r'"sha256":"([0-9a-f]{64})","size":([0-9]+)\}').findall
