"""What was decided before about what a session is about to edit.

A question belongs to a path if its text names it, or something above or below it; and to a work
item if it names that. So nobody has to say it twice, and questions of before count as well. A
debate without a question belongs to what its entries name. Only what has a result is told: what is
still argued binds nobody.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from moot.protocols.presence.model import Kind
from moot.protocols.presence.paths import classify_overlap

if TYPE_CHECKING:
    from moot.core.ledger import View
    from moot.engine.engine import Engine
    from moot.workspace.workspace import Workspace

NEWEST_LOOKED_AT: Final = 200
MOST_TOLD: Final = 3
MOST_PATHS: Final = 200
MOST_PATHS_SEARCHED: Final = 20
_BETWEEN: Final = re.compile(r"[\s`'\"<>,;|()]+")
_FILE: Final = re.compile(r"[\w.@+-]+\.[A-Za-z][A-Za-z0-9]{0,7}")


class SettledQuestion(NamedTuple):
    """Something that was settled: how, with which words, and what it names of what is edited.

    `outcome` is approved, vetoed, amended, or the vote's own word if no person has ruled.
    """

    id: str
    question: str
    outcome: str
    answer: str
    names: tuple[str, ...]


class _Result(NamedTuple):
    question: str
    outcome: str
    answer: str = ""


class _Asked(NamedTuple):
    """`order` is its place among all that was ever begun here."""

    order: int
    stream: str
    text: str


def find_earlier_decisions(
    workspace: Workspace, touched: Callable[[], Iterable[str]], work: str
) -> tuple[SettledQuestion, ...]:
    """The newest few that name what `touched` gives, or `work`; it is called only if anything was
    ever asked or argued here."""
    with workspace.store.read() as view:
        asked = sorted(_list_asked(view), reverse=True)[:NEWEST_LOOKED_AT]
        has_debates = bool(view.rows("debate.files", limit=1))
        if not asked and not has_debates:
            return ()
        paths = tuple(dict.fromkeys(touched()))[:MOST_PATHS]
        named = [(each, tuple(find_names(each.text, paths, work))) for each in asked]
        named += list(_debates_naming(view, paths)) if has_debates else []
        named = [(each, names) for each, names in named if names and not _is_part(view, each)]
    found: list[SettledQuestion] = []
    for each, names in sorted(named, reverse=True):
        settled = _SETTLED[each.stream.partition("/")[0]](workspace.engine, each.stream)
        if settled is not None and len(found) < MOST_TOLD:
            found.append(SettledQuestion(each.stream.removeprefix("decision/"), *settled, names))
    return tuple(found)


def find_names(text: str, paths: Iterable[str], work: str) -> Iterator[str]:
    """What of these paths, or of this work item, is named in a text."""
    words = [word.strip(".!?:") for word in _BETWEEN.split(text)]
    if work and work in words:
        yield work
    named = dict.fromkeys(_as_scope(word) for word in words if "/" in word or _FILE.fullmatch(word))
    for name in named:
        overlaps = (classify_overlap(name, path) for path in paths)
        if name and any(overlap is not Kind.DISJOINT for overlap in overlaps):
            yield name


def _as_scope(word: str) -> str:
    return word.removeprefix(":").removeprefix("./").removesuffix("/*").strip("/")


def _list_asked(view: View) -> Iterator[_Asked]:
    """Questions and the problems of parliaments, as the index knows them."""
    for row in view.rows("decision.questions", limit=100_000):
        text = msgspec.json.decode(row.value)["question"]
        yield _Asked(_order(view, row.key), row.key, text)
    for row in view.rows("parliament.sessions", limit=100_000):
        value = msgspec.json.decode(row.value)
        yield _Asked(_order(view, value["stream"]), value["stream"], value["problem_statement"])


def _debates_naming(view: View, paths: Iterable[str]) -> Iterator[tuple[_Asked, tuple[str, ...]]]:
    """Debates in whose entries every word of a path stands."""
    for path in list(paths)[:MOST_PATHS_SEARCHED]:
        if "/" in path or _FILE.fullmatch(path):
            keys = view.search("debate.entries", path, MOST_TOLD)
            for stream in dict.fromkeys(key.partition("#")[0] for key in keys):
                yield _Asked(_order(view, stream), stream, ""), (path,)


def _order(view: View, stream: str) -> int:
    head = view.head(stream)
    return -1 if head is None else head.number


def _is_part(view: View, asked: _Asked) -> bool:
    """A session in which a question was argued: the question says it all."""
    return bool(view.rows("decision.sessions", f"{asked.stream} ", limit=1))


def _settled_question(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.decision.machine import MACHINE

    state = engine.state(MACHINE, stream)
    outcome = state.word.word if state.word is not None else state.result
    if outcome is None:
        return None
    answer = state.motion.text if state.motion is not None else ""
    return _Result(state.question, str(outcome), answer)


def _settled_parliament(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.parliament.machine import MACHINE

    state = engine.state(MACHINE, stream)
    return _Result(state.problem_statement, str(state.outcome)) if state.outcome else None


def _settled_debate(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.debate.machine import MACHINE

    state = engine.state(MACHINE, stream)
    ended = state.phase.has_ended
    return _Result(state.title or stream, state.phase.partition(":")[2]) if ended else None


_SETTLED: Final[dict[str, Callable[[Engine, str], _Result | None]]] = {
    "decision": _settled_question,
    "parliament": _settled_parliament,
    "debate": _settled_debate,
}
