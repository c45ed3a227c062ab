"""Joining from a program: what a person would be asked at a terminal is a callable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from moot.api.presence import joining, scopes
from moot.core.errors import Malformed, Refused
from moot.core.findings import Finding
from tests.api.sessions import open_as
from tests.project import Project


@pytest.fixture
def unfinished(project: Project) -> Project:
    """amber-otter holds src/ and has left files that are not committed, there and elsewhere."""
    project.init_git()
    for name in ("amber-otter", "teal-crane"):
        with open_as(project, name) as session:
            joining.join(session)
    with open_as(project, "amber-otter") as session:
        scopes.reserve(session, ["src/*"])
    (project.root / "src").mkdir()
    (project.root / "src" / "a.py").write_text("unfinished")
    (project.root / "notes.md").write_text("unfinished")
    return project


def test_the_caller_chooses_whom_to_go_on_as(unfinished: Project) -> None:
    offered: list[str] = []

    def choose_first(candidates: Sequence[joining.AdoptionCandidate]) -> str | None:
        offered.extend(candidate.agent for candidate in candidates)
        return candidates[0].agent

    with open_as(unfinished) as session:
        joined = joining.join(session, choose=choose_first)
    assert offered == ["amber-otter"]
    assert (joined.agent, joined.adopted, joined.epoch) == ("amber-otter", True, 2)
    assert joined.recommendation.reason == "adoption_requested"


def test_the_caller_may_choose_to_start_again(unfinished: Project) -> None:
    with open_as(unfinished) as session:
        joined = joining.join(session, choose=lambda _candidates: None)
        held = scopes.list_reservations(session).reservations
    assert (joined.adopted, joined.recommendation.reason) == (False, "register_requested")
    assert joined.agent not in ("amber-otter", "teal-crane")
    assert [(view.scope, view.owner) for view in held] == [("src/*", "amber-otter")]


def test_a_rejected_adoption_is_judged_again_with_what_the_caller_names(
    unfinished: Project,
) -> None:
    reasons: list[Finding] = []

    def name_a_file(findings: Sequence[Finding]) -> str:
        reasons.extend(findings)
        return " notes.md "

    with open_as(unfinished) as session:
        joined = joining.join(session, adopt="teal-crane", name_unfinished_work=name_a_file)
    assert {finding.code for finding in reasons} == {"adoption_rejected"}
    assert (joined.agent, joined.adopted) == ("teal-crane", True)
    assert joined.event is not None
    assert "notes.md" in joined.event["payload"]["evidence"]


@pytest.mark.parametrize("named", ["", "docs"])
def test_a_caller_who_names_nothing_unfinished_gets_nothing(
    unfinished: Project, named: str
) -> None:
    before = unfinished.count_events()
    with open_as(unfinished) as session, pytest.raises(Refused) as rejected:
        joining.join(session, adopt="teal-crane", name_unfinished_work=lambda _: named)
    assert rejected.value.code == "adoption_rejected"
    assert unfinished.count_events() == before


def test_registering_and_adopting_exclude_each_other(project: Project) -> None:
    before = project.count_events()
    with open_as(project) as session, pytest.raises(Malformed) as refused:
        joining.join(session, register="coral-finch", adopt="amber-otter")
    assert refused.value.code == "bad_join"
    assert project.count_events() == before


def test_an_overlap_leaves_the_new_name_joined_and_says_so(unfinished: Project) -> None:
    with open_as(unfinished) as session:
        with pytest.raises(Refused) as refused:
            joining.join(session, register="coral-finch", scopes=["src/b.py"])
        registered = session.workspace.engine.registry().agents
        held = scopes.list_reservations(session, agent="coral-finch").reservations
    assert refused.value.code == "reservation_conflict"
    assert joining.export_line("coral-finch", 1) in refused.value.hint
    assert "coral-finch" in registered
    assert held == ()


def test_who_was_adopted_joins_again_as_the_current_holder(unfinished: Project) -> None:
    with open_as(unfinished) as session:
        joining.join(session, adopt="amber-otter")
    with open_as(unfinished, "amber-otter") as session:
        again = joining.join(session)
    assert (again.adopted, again.epoch) == (False, 2)
    printed = unfinished.run("--as", "amber-otter", "join").out
    assert "export MOOT_AGENT=amber-otter MOOT_EPOCH=2" in printed.splitlines()
