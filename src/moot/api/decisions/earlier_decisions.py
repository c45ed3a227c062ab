"""Find earlier decisions about the files or the work item that a session is about to edit.

A question concerns a path if its text names the path, or one above or below it; it concerns a work
item if its text names that. So older questions are found without any tagging. A debate without a
question concerns the paths that its entries name. Only decisions with a result are shown.
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

MAX_QUESTIONS: Final = 200
MAX_SHOWN: Final = 3
MAX_PATHS: Final = 200
MAX_SEARCHED_PATHS: Final = 20
_SEPARATORS: Final = re.compile(r"[\s`'\"<>,;|()]+")
_FILE: Final = re.compile(r"[\w.@+-]+\.[A-Za-z][A-Za-z0-9]{0,7}")


class SettledQuestion(NamedTuple):
    """A settled question, its answer, and which of the edited paths it names.

    `outcome` is approved, vetoed, amended, or the result of the vote if no person has ruled.
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


class _Candidate(NamedTuple):
    """A question or session; `position` orders them by age."""

    position: int
    stream: str
    text: str


def find_earlier_decisions(
    workspace: Workspace, list_paths: Callable[[], Iterable[str]], work: str
) -> tuple[SettledQuestion, ...]:
    """Return the newest decisions that name one of `list_paths()` or `work`.

    `list_paths` is called only if this workspace has any question or debate.
    """
    with workspace.store.read() as view:
        asked = sorted(_list_candidates(view), reverse=True)[:MAX_QUESTIONS]
        has_debates = bool(view.rows("debate.files", limit=1))
        if not asked and not has_debates:
            return ()
        paths = tuple(dict.fromkeys(list_paths()))[:MAX_PATHS]
        named = [(each, tuple(find_names(each.text, paths, work))) for each in asked]
        named += list(_debates_naming(view, paths)) if has_debates else []
        named = [
            (each, names)
            for each, names in named
            if names and not _is_session_of_question(view, each)
        ]
    found: list[SettledQuestion] = []
    for each, names in sorted(named, reverse=True):
        result = _RESULT_READERS[each.stream.partition("/")[0]](workspace.engine, each.stream)
        if result is not None and len(found) < MAX_SHOWN:
            found.append(SettledQuestion(each.stream.removeprefix("decision/"), *result, names))
    return tuple(found)


def find_names(text: str, paths: Iterable[str], work: str) -> Iterator[str]:
    """Yield which of these paths, and whether this work item, a text names."""
    words = [word.strip(".!?:") for word in _SEPARATORS.split(text)]
    if work and work in words:
        yield work
    named = dict.fromkeys(_as_scope(word) for word in words if "/" in word or _FILE.fullmatch(word))
    for name in named:
        overlaps = (classify_overlap(name, path) for path in paths)
        if name and any(overlap is not Kind.DISJOINT for overlap in overlaps):
            yield name


def _as_scope(word: str) -> str:
    return word.removeprefix(":").removeprefix("./").removesuffix("/*").strip("/")


def _list_candidates(view: View) -> Iterator[_Candidate]:
    """Yield the questions and the problems of parliaments from the index."""
    for row in view.rows("decision.questions", limit=100_000):
        text = msgspec.json.decode(row.value)["question"]
        yield _Candidate(_position(view, row.key), row.key, text)
    for row in view.rows("parliament.sessions", limit=100_000):
        value = msgspec.json.decode(row.value)
        yield _Candidate(
            _position(view, value["stream"]), value["stream"], value["problem_statement"]
        )


def _debates_naming(
    view: View, paths: Iterable[str]
) -> Iterator[tuple[_Candidate, tuple[str, ...]]]:
    """Yield debates whose entries contain every word of a path."""
    for path in list(paths)[:MAX_SEARCHED_PATHS]:
        if "/" in path or _FILE.fullmatch(path):
            keys = view.search("debate.entries", path, MAX_SHOWN)
            for stream in dict.fromkeys(key.partition("#")[0] for key in keys):
                yield _Candidate(_position(view, stream), stream, ""), (path,)


def _position(view: View, stream: str) -> int:
    head = view.head(stream)
    return -1 if head is None else head.number


def _is_session_of_question(view: View, asked: _Candidate) -> bool:
    """Return whether this session argued a question, which is listed itself."""
    return bool(view.rows("decision.sessions", f"{asked.stream} ", limit=1))


def _question_result(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.decision.machine import MACHINE

    state = engine.state(MACHINE, stream)
    outcome = state.word.word if state.word is not None else state.result
    if outcome is None:
        return None
    answer = state.motion.text if state.motion is not None else ""
    return _Result(state.question, str(outcome), answer)


def _parliament_result(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.parliament.machine import MACHINE

    state = engine.state(MACHINE, stream)
    return _Result(state.problem_statement, str(state.outcome)) if state.outcome else None


def _debate_result(engine: Engine, stream: str) -> _Result | None:
    from moot.protocols.debate.machine import MACHINE

    state = engine.state(MACHINE, stream)
    ended = state.phase.has_ended
    return _Result(state.title or stream, state.phase.partition(":")[2]) if ended else None


_RESULT_READERS: Final[dict[str, Callable[[Engine, str], _Result | None]]] = {
    "decision": _question_result,
    "parliament": _parliament_result,
    "debate": _debate_result,
}
