"""Reserving from a program: repeated under a key, and told where a link leads."""

from __future__ import annotations

import pytest

from moot.api.presence import scopes
from moot.core.errors import Conflict
from tests.api.sessions import open_as
from tests.project import Project


def test_a_repeat_under_its_key_answers_the_same_and_records_nothing(project: Project) -> None:
    with open_as(project, "amber-otter") as session:
        first = scopes.reserve(session, ["src"], work="T-7", key="once")
        released = scopes.release(session, ["src"], key="back")
    before = project.count_events()
    with open_as(project, "amber-otter") as session:
        assert scopes.reserve(session, ["src"], work="T-7", key="once") == first
        assert scopes.release(session, ["src"], key="back") == released
        assert scopes.list_reservations(session).reservations == ()
    assert project.count_events() == before


def test_a_key_stands_for_one_command(project: Project) -> None:
    with open_as(project, "amber-otter") as session:
        scopes.reserve(session, ["src"], key="once")
        with pytest.raises(Conflict) as refused:
            scopes.reserve(session, ["docs"], key="once")
        held = scopes.list_reservations(session).reservations
    assert refused.value.code == "key_reused"
    assert [view.scope for view in held] == ["src"]


def test_a_link_is_reserved_by_its_name_and_remarked_on(project: Project) -> None:
    (project.root / "real").mkdir()
    (project.root / "link").symlink_to("real")
    with open_as(project, "amber-otter") as session:
        reserved = scopes.reserve(session, ["link"])
    assert [lease.scope for lease in reserved.reserved] == ["link"]
    assert [finding.code for finding in reserved.findings] == ["symlink"]


def test_a_holder_can_be_ended_only_by_another_where_its_key_is(project: Project) -> None:
    with open_as(project, "teal-crane") as session:
        scopes.reserve(session, ["src"])
        assert scopes.find_retirable_holders(session, ["src"]) == []
    with open_as(project) as session:
        assert scopes.find_retirable_holders(session, ["src/a.py", "docs"]) == ["teal-crane"]
    (key,) = project.keys.glob("*/teal-crane.*.key")
    key.unlink()
    with open_as(project) as session:
        assert scopes.find_retirable_holders(session, ["src"]) == []
