"""Sub-agents of one session: each keeps what it works on, until it ends or goes quiet."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from moot.core.errors import Refused
from moot.core.machine import Recorded
from moot.core.record import Actor
from moot.protocols.presence import commands as ask
from moot.protocols.presence import events as did
from moot.protocols.presence.codec import check_document, make_document, make_envelope
from moot.protocols.presence.machine import MACHINE
from moot.protocols.presence.model import STREAM, State
from moot.protocols.presence.sub_agents import MAX_AT_WORK
from moot.testing import Scenario

from .scene import (
    CRANE,
    OTTER,
    ROOT,
    blocked,
    crew,
    handoff,
    owners,
    refusal,
    release,
    reserve,
    run,
    take_over,
)

FIRST, SECOND = "toolu_first", "toolu_second"


def edit(path: str, by: str = "", **more: Any) -> ask.Reserve:
    """What a hook asks before an edit; `by` is the tool's id of the sub-agent."""
    given = {"automatic": True, "once": True, "sub_agent": by, "sub_agent_kind": "general"}
    return reserve(path, **{**given, **more})


def holders(scenario: Scenario[State]) -> dict[str, str]:
    return {held.scope: held.holder for held in scenario.state.live}


def aliases(scenario: Scenario[State], name: str = OTTER) -> list[str]:
    (member,) = (member for member in scenario.state.members if member.name == name)
    return [each.alias for each in member.sub_agents]


def noted(scenario: Scenario[State]) -> list[did.IncursionNoted]:
    return [event for event in scenario.history() if isinstance(event, did.IncursionNoted)]


def test_a_sub_agent_begins_with_its_first_edit_and_holds_it_under_its_alias() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    began, reserved = scenario.history()[-2:]
    assert began == did.SubAgentBegan(alias="1", tool_id=FIRST, kind="general")
    assert isinstance(reserved, did.ScopeReserved)
    assert reserved.alias == "1"
    assert holders(scenario) == {"a.py": "amber-otter/1"}
    assert owners(scenario) == {"a.py": OTTER}


def test_who_has_no_sub_agents_leaves_the_records_it_always_left() -> None:
    scenario = crew(OTTER).when(reserve("a.py"))
    event = msgspec.to_builtins(scenario.history()[-1])
    assert "alias" not in event
    assert "sub_agent" not in msgspec.to_builtins(reserve("a.py"))


def test_what_one_sub_agent_edits_is_held_against_its_sibling() -> None:
    scenario = crew(OTTER).when(edit("src/a.py", FIRST))
    refused = refusal(scenario, edit("src/a.py", SECOND), OTTER)
    assert refused.code == "reservation_conflict"
    assert "src/a.py is held by amber-otter/1 (a sub-agent of your own session)" in str(refused)
    assert refused.hint == "work on another file, or wait until it ends"
    assert holders(scenario) == {"src/a.py": "amber-otter/1"}
    (event,) = noted(scenario)
    assert (event.owner, event.owner_alias, event.alias) == (OTTER, "1", "2")
    assert event.resolution_hint == (
        "amber-otter/1 of the same session is at work there: work elsewhere until it ends"
    )


def test_an_incursion_between_sub_agents_is_on_record_once_for_each_of_them() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    for _ in range(3):
        refusal(scenario, edit("a.py", SECOND), OTTER)
        refusal(scenario, edit("a.py", "toolu_third"), OTTER)
        refusal(scenario, edit("a.py"), OTTER)
    assert [event.alias or "" for event in noted(scenario)] == ["2", "3", ""]
    assert aliases(scenario) == ["1", "2", "3"]


def test_what_the_session_itself_holds_does_not_block_its_sub_agents() -> None:
    scenario = crew(OTTER).when(reserve("src/*")).when(edit("docs/x.md"))
    scenario.when(edit("src/a.py", FIRST)).when(edit("docs/x.md", SECOND))
    assert holders(scenario) == {
        "src/*": OTTER,
        "src/a.py": "amber-otter/1",
        "docs/x.md": "amber-otter/2",
    }


def test_the_main_agent_is_another_writer_and_kept_off_too() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    assert refusal(scenario, edit("a.py"), OTTER).code == "reservation_conflict"
    assert holders(scenario) == {"a.py": "amber-otter/1"}


def test_where_nobody_knows_who_of_the_session_asks_nothing_of_its_own_is_in_the_way() -> None:
    """A shell command of a session (`moot reserve`) says nothing of the sub-agent that typed it."""
    scenario = crew(OTTER).when(edit("a.py", FIRST)).when(reserve("a.py", work="bb-9"))
    (held,) = scenario.state.live
    assert (held.holder, held.automatic, held.work) == ("amber-otter/1", False, "bb-9")
    refusal(scenario, edit("a.py", SECOND), OTTER)


def test_when_a_sub_agent_ends_its_session_keeps_what_it_held() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST)).when(edit("b.py", SECOND))
    scenario.when(ask.EndSubAgent(sub_agent=FIRST, reason="done"))
    scenario.then(did.SubAgentEnded(alias="1", reason="done"))
    assert holders(scenario) == {"a.py": OTTER, "b.py": "amber-otter/2"}
    scenario.when(edit("a.py", SECOND))
    assert holders(scenario) == {"a.py": "amber-otter/2", "b.py": "amber-otter/2"}
    assert refusal(scenario, edit("a.py"), CRANE).code == "reservation_conflict"


def test_ending_what_has_ended_or_never_began_records_nothing() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST)).when(ask.EndSubAgent(sub_agent=FIRST))
    before = len(scenario.history())
    scenario.when(ask.EndSubAgent(sub_agent=FIRST)).when(ask.EndSubAgent(sub_agent="nobody"))
    scenario.when(ask.EndSubAgent(all=True))
    assert len(scenario.history()) == before


def test_a_sub_agent_that_is_asked_again_begins_under_a_new_number() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST)).when(ask.EndSubAgent(sub_agent=FIRST))
    scenario.when(edit("a.py", FIRST))
    assert holders(scenario) == {"a.py": "amber-otter/2"}


def test_what_was_reserved_by_hand_keeps_its_terms_while_a_sub_agent_works_there() -> None:
    scenario = crew(OTTER).when(reserve("a.py", work="bb-7", ttl_minutes=60))
    (before,) = scenario.state.live
    scenario.when(edit("a.py", FIRST)).when(ask.EndSubAgent(sub_agent=FIRST))
    (after,) = scenario.state.live
    assert after.holder == OTTER
    assert (after.work, after.expires_at, after.automatic) == ("bb-7", before.expires_at, False)
    assert after.fencing > before.fencing


def test_all_sub_agents_end_with_their_session() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST)).when(edit("b.py", SECOND)).when(ask.Leave())
    ended = [event.alias for event in scenario.history() if isinstance(event, did.SubAgentEnded)]
    assert ended == ["1", "2"]
    assert scenario.state.live == ()
    assert aliases(scenario) == []


def test_giving_everything_back_leaves_what_a_sub_agent_works_on() -> None:
    scenario = crew(OTTER).when(reserve("docs")).when(edit("a.py", FIRST))
    scenario.when(ask.Release(all=True))
    assert holders(scenario) == {"a.py": "amber-otter/1"}
    scenario.when(release("a.py"))
    assert scenario.state.live == ()


def test_who_goes_quiet_holds_off_its_siblings_no_more_but_still_the_others() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST))
    scenario.world.clock.forward(minutes=14)
    scenario.when(ask.Join(project_root=ROOT))  # the session itself is alive all the time
    refusal(scenario, edit("a.py", SECOND), OTTER)
    scenario.world.clock.forward(minutes=1)
    assert refusal(scenario, edit("a.py"), CRANE).code == "reservation_conflict"
    scenario.when(edit("a.py", SECOND))
    ended = [event for event in scenario.history() if isinstance(event, did.SubAgentEnded)]
    assert ended == [did.SubAgentEnded(alias="1", reason="it had gone quiet")]
    assert holders(scenario) == {"a.py": "amber-otter/2"}
    refused = refusal(scenario, edit("a.py", FIRST), OTTER)
    assert "held by amber-otter/2" in str(refused)


def test_who_edits_on_is_seen_now_and_then_and_stays_at_work() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    for _ in range(30):
        scenario.world.clock.forward(minutes=1)
        scenario.when(edit("a.py", FIRST))
    signs = [event for event in scenario.history() if isinstance(event, did.SubAgentSeen)]
    assert len(signs) == 6
    refusal(scenario, edit("a.py", SECOND), OTTER)


def test_a_sub_agent_that_only_runs_commands_is_known_too() -> None:
    scenario = crew(OTTER).when(ask.BeginSubAgent(sub_agent=FIRST, sub_agent_kind="tests"))
    scenario.when(ask.BeginSubAgent(sub_agent=FIRST, sub_agent_kind="tests"))
    assert aliases(scenario) == ["1"]
    scenario.world.clock.forward(minutes=6)
    scenario.when(ask.BeginSubAgent(sub_agent=FIRST)).then(did.SubAgentSeen(alias="1"))


def test_other_agents_meet_the_session_and_read_who_of_it_works_there() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST))
    refused = refusal(scenario, edit("a.py", "theirs"), CRANE)
    assert "a.py is held by amber-otter/1:" in str(refused)
    assert "moot blocked amber-otter --work" in refused.hint
    (event,) = noted(scenario)
    assert (event.owner, event.owner_alias, event.alias) == (OTTER, "1", "1")


def test_the_envelope_of_such_an_incursion_names_both() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    refusal(scenario, edit("a.py", SECOND), OTTER)
    event = noted(scenario)[0]
    recorded = Recorded(event, STREAM, 1, scenario.world.clock.now, Actor(OTTER, 1, "k"), b"")
    document = make_document(make_envelope(recorded))
    assert check_document(document) == ()
    assert document["from_agent"] == document["to_agent"] == OTTER
    payload = document["payload"]
    assert (payload["owner_agent"], payload["incoming_agent"]) == (OTTER, OTTER)
    assert payload["owner_alias"] == "amber-otter/1"
    assert payload["incoming_alias"] == "amber-otter/2"
    payload["owner_alias"] = 3
    assert [finding.code for finding in check_document(document)] == ["bad_field"]


def test_a_living_sub_agents_hold_is_taken_by_nobody_of_its_session() -> None:
    scenario = crew(OTTER).when(edit("a.py", FIRST))
    asked = take_over("a.py", sub_agent=SECOND)
    assert refusal(scenario, asked, OTTER).code == "reservation_conflict"


def test_a_session_gone_quiet_loses_what_its_sub_agents_held_like_the_rest() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST))
    scenario.world.clock.forward(minutes=16)
    run(scenario, take_over("a.py"), CRANE)
    assert holders(scenario) == {"a.py": CRANE}


def test_an_accepted_handoff_moves_what_a_sub_agent_held() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST))
    run(scenario, handoff(scope="a.py"), OTTER)
    run(scenario, ask.Accept(id="proto_20260218_001"), CRANE)
    assert holders(scenario) == {"a.py": CRANE}


def test_mail_and_duties_are_the_sessions() -> None:
    scenario = crew(OTTER, CRANE).when(edit("a.py", FIRST))
    with pytest.raises(Refused) as refused:
        run(scenario, blocked("amber-otter/1"), CRANE)
    assert refused.value.code == "agent_not_found"


@pytest.mark.parametrize("command", [ask.BeginSubAgent(sub_agent=""), ask.EndSubAgent()])
def test_a_sub_agent_has_an_id(command: Any) -> None:
    scenario = crew(OTTER)
    before = scenario.state
    assert refusal(scenario, command, OTTER).code == "sub_agent_required"
    assert scenario.state == before


def test_an_id_has_a_limit() -> None:
    scenario = crew(OTTER)
    assert refusal(scenario, edit("a.py", "x" * 201), OTTER).code == "text_too_long"
    assert scenario.state.live == ()


def test_the_one_longest_silent_makes_room() -> None:
    scenario = crew(OTTER)
    for number in range(MAX_AT_WORK + 1):
        scenario.when(edit(f"{number}.py", f"id{number}"))
    assert len(aliases(scenario)) == MAX_AT_WORK
    assert "1" not in aliases(scenario)
    assert holders(scenario)["0.py"] == OTTER


def test_records_of_before_are_read_without_an_alias() -> None:
    data = {
        "fencing": 1,
        "key": "a",
        "scope": "a",
        "work": None,
        "worktree": ROOT,
        "branch": None,
        "expires_at": None,
        "automatic": True,
    }
    event = MACHINE.read_event("presence.scope_reserved", data)
    assert isinstance(event, did.ScopeReserved)
    assert event.alias is msgspec.UNSET
    assert msgspec.to_builtins(event) == data
