"""Whatever happens in a session, its files are sound, and the session follows from them again."""

from __future__ import annotations

import json
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.core.findings import select_errors
from moot.core.machine import Context, KeyClass, VerifiedActor
from moot.core.names import SYSTEM
from moot.protocols.parliament import commands as ask
from moot.protocols.parliament import events as did
from moot.protocols.parliament import session_files
from moot.protocols.parliament.documents.final_document import Proceedings, write_final_document
from moot.protocols.parliament.documents.report import make_report
from moot.protocols.parliament.documents.turn_context import make_turn_context
from moot.protocols.parliament.evolution import apply_event
from moot.protocols.parliament.files.file_shapes import FILES
from moot.protocols.parliament.files.inspection import inspect_files
from moot.protocols.parliament.machine import MACHINE
from moot.protocols.parliament.messages.message import read_message
from moot.protocols.parliament.model import State
from moot.protocols.parliament.session_files import FilesAsEvents, import_findings
from tests.parliament.played_sessions import documents, sound
from tests.parliament.scene import STREAM
from tests.parliament.test_properties import NOON, Session
from tests.sampling import examples


def files_of(state: State, said: list[dict[str, Any]], told: list[Any]) -> dict[str, bytes]:
    made = (
        session_files.encode_ledger(state, map(read_message, said)),
        session_files.encode_session(state),
        session_files.encode_bill(state),
        session_files.encode_summaries(told),
    )
    return dict(zip(FILES, made, strict=True))


def taking(given_files: dict[str, Any]) -> ask.Import:
    ledger, session, bill, told = (given_files[name] for name in FILES)
    seats = [rep["agent_id"] for rep in session["representatives"]]
    agents = {seat: f"agent-{place}" for place, seat in enumerate(seats)}
    return ask.Import(ledger=ledger, session=session, bill=bill, summaries=told, agents=agents)


class Papers(Session):
    """A random session whose papers are looked at when it ends."""

    def __init__(self) -> None:
        super().__init__()
        self.told: dict[int, Any] = {}

    def record(self, who: str, event: Any) -> None:
        super().record(who, event)
        if isinstance(event, did.RoundSummarized):
            self.told[event.summary["round"]] = event.summary

    def teardown(self) -> None:
        told = [self.told[number] for number in sorted(self.told)]
        made = files_of(self.state, self.messages, told)
        assert select_errors(inspect_files(dict(made))) == ()
        self.read_back(made)
        record = Proceedings(self.state, tuple(map(read_message, self.messages)), tuple(told))
        assert write_final_document(record)
        assert make_report(record)
        for seat in (*self.state.order, None):
            assert make_turn_context(self.state, record.messages, record.summaries, seat)

    def read_back(self, made: dict[str, bytes]) -> None:
        command = taking({name: json.loads(data) for name, data in made.items()})
        assert select_errors(import_findings(command)) == ()
        said, told, retold = [], {}, FilesAsEvents(command)
        for event in retold.events:
            if isinstance(event, did.MessageLogged):
                said.append(event.message)
            if isinstance(event, did.RoundSummarized):
                told[event.summary["round"]] = event.summary
        again = files_of(retold.state, said, [told[number] for number in sorted(told)])
        assert again == made
        assert retold.state.outcome == self.state.outcome
        assert retold.state == reduce(apply_event, retold.events, State())


Papers.TestCase.settings = settings(max_examples=40, stateful_step_count=40, deadline=None)


@pytest.mark.requirement("PAR-085")
class TestPapers(Papers.TestCase):  # type: ignore[misc, valid-type]  # a class made at run time
    pass


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=examples(80), deadline=None)
@given(name=st.sampled_from(FILES), data=st.data())
def test_an_import_of_anything_is_decided(name: str, data: st.DataObject) -> None:
    """A value somewhere in the files is replaced; the machine accepts or refuses, never raises."""
    changed = documents()
    holder: Any = changed[name]
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        step = data.draw(st.sampled_from(keys))
        if not isinstance(holder[step], dict | list) or not holder[step]:
            break
        if data.draw(st.integers(0, 4)) == 0:
            break
        holder = holder[step]
    holder[step] = data.draw(JSON)
    plain = taking(documents())
    ledger, session, bill, told = (changed[one] for one in FILES)
    command = ask.Import(
        ledger=ledger, session=session, bill=bill, summaries=told, agents=plain.agents
    )
    context = Context(NOON, VerifiedActor(SYSTEM, 1, "k", KeyClass.SYSTEM), STREAM, "o", {})
    decision = MACHINE.decide(State(), command, context)
    assert decision.refused == bool(select_errors(decision.findings))


def test_sound_files_are_imported() -> None:
    command = taking({name: json.loads(data) for name, data in sound().items()})
    context = Context(NOON, VerifiedActor(SYSTEM, 1, "k", KeyClass.SYSTEM), STREAM, "o", {})
    decision = MACHINE.decide(State(), command, context)
    assert not decision.refused
    first = decision.drafts[0].event
    assert first == did.SessionImported(
        parliament_id="parl-20260218-001", messages=len(command.ledger["messages"])
    )
