"""An act of a parliament under a key is done once, however often it is asked for.

The command line offers no keys here, so these are told through the library alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from moot.api.parliaments import incoming
from moot.protocols.parliament.messages.message import response_findings
from tests.cli.parliament_session import STATEMENT
from tests.project import Project
from tests.scenarios.stories.parliaments import FOLDER, SCORES, Parliament, position
from tests.scenarios.test_stories import project as project
from tests.scenarios.transports import Library
from tests.scenarios.world import World


@pytest.fixture
def parliament(project: Project) -> Parliament:
    return Parliament(World(project, Library()))


def done_twice(parliament: Parliament, operation: str, **arguments: Any) -> Any:
    """The result of an act that is repeated under its key: the same, and nothing more on record."""
    first = parliament.do(operation, **arguments)
    before = parliament.world.events()
    assert parliament.do(operation, **arguments) == first
    assert parliament.world.events() == before
    return first


def test_a_message_is_brought_once(parliament: Parliament) -> None:
    statement = parliament.file({**STATEMENT, "from": "rep_1"})
    done_twice(parliament, "submit", message=statement, key="s-1")
    assert parliament.refuse("submit", message=statement, key="s-2") == "already_opened"
    content: dict[str, Any] = {**cast("dict[str, Any]", STATEMENT["content"])}
    other = {**content, "briefing": {**content["briefing"], "facts": []}}
    changed = parliament.file({**STATEMENT, "from": "rep_1", "content": other})
    assert parliament.refuse("submit", message=changed, key="s-1") == "key_reused"


def test_a_long_question_is_the_same_command_in_a_later_round(parliament: Parliament) -> None:
    parliament.to_debate()
    text = "First. Second. Third. Fourth. Fifth. Sixth. Seventh."
    content = {"topic": "speed", "question": text, "motive_context": ""}
    document = {"type": "QUESTION", "from": "rep_1", "to": "rep_2", "content": content}
    question = parliament.file(document).rename(parliament.folder.parent / "question.json")
    first = parliament.do("submit", message=question, key="q-1")
    reply = {
        "answer": "Yes.",
        "concessions": "",
        "stance": "maintain",
        "motive_scores": SCORES["rep_2"],
    }
    asked = first["messages"][0]["id"]
    parliament.submit("ANSWER", "rep_2", reply, to="rep_1", in_reply_to=asked)
    for _ in range(3):
        parliament.rule("round_end")
        parliament.rule("round_start")
    again = parliament.do("submit", message=question, key="q-1")
    assert again["messages"][0] == first["messages"][0]


def test_a_round_that_is_started_under_a_key_starts_once(parliament: Parliament) -> None:
    parliament.to_debate()
    parliament.rule("round_end")
    content = {"ruling_type": "procedure", "ruling": "On.", "target": None, "action": "round_start"}
    ruling = {"type": "SPEAKER_RULING", "from": "speaker", "content": content}
    started = done_twice(parliament, "submit", message=parliament.file(ruling), key="round-2")
    assert started["round"] == 2


def test_the_clerks_acts_are_done_once(parliament: Parliament) -> None:
    for seat in SCORES:
        parliament.submit("OPENING_STATEMENT", seat, STATEMENT["content"])
    assert done_twice(parliament, "drafter", seat="rep_1", key="d-1")["drafter"] == "rep_1"


def test_amendments_and_votes_are_settled_once(parliament: Parliament) -> None:
    parliament.to_debate()
    parliament.propose("rep_2", "amend-001", "Every part carries its digest.")
    parliament.exchange("rep_2", "rep_1", **position("amend-001", "endorse"))
    done = done_twice(parliament, "incorporate", amendment="amend-001", key="i-1")
    assert done["changes"] == ["solution", "  + Every part carries its digest."]
    parliament.propose("rep_2", "amend-002", "Nobody pays more.")
    done_twice(parliament, "withdraw", amendment="amend-002", key="w-1")
    parliament.propose("rep_2", "amend-003", "Only small files.")
    parliament.exchange("rep_2", "rep_1", **position("amend-003", "oppose"))
    done_twice(parliament, "conclude", amendment="amend-003", key="c-1")
    parliament.to_vote()
    parliament.vote("rep_1")
    counted = done_twice(parliament, "tally", close=True, key="t-1")
    assert counted["tally"]["tally"] == {"yes": 1, "no": 0, "total": 2}


def test_a_message_is_checked_once_before_the_machine_decides(
    parliament: Parliament, monkeypatch: pytest.MonkeyPatch
) -> None:
    check, checked = response_findings, list[Any]()

    def count(document: Any) -> Any:
        checked.append(document)
        return check(document)

    monkeypatch.setattr(incoming, "response_findings", count)
    parliament.submit("OPENING_STATEMENT", "rep_1", STATEMENT["content"])
    assert len(checked) == 1


def test_a_draft_may_be_a_text(parliament: Parliament) -> None:
    """The library takes JSON as a text or as a file; the command line always names a file."""
    parliament.to_debate()
    parliament.propose("rep_2", "amend-001", "Send digests, too.", action="modify")
    parliament.exchange("rep_2", "rep_1", **position("amend-001", "endorse"))
    draft = '{"sections": {"solution": "Send parts with digests."}}'
    operation = "parliament.incorporate"
    arguments = {"folder": Path(FOLDER), "amendment": "amend-001", "draft": draft}
    done = parliament.world.do(operation, "amber-otter", **arguments)
    assert done["changes"][-1] == "  + Send parts with digests."
