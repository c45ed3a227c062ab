"""Keys from a program: a person's passphrase is a callable, a refused key leaves no file."""

from __future__ import annotations

import pytest

from moot.api.presence import agent_keys, agents, scopes
from moot.core.errors import MootError
from tests.api.sessions import open_as
from tests.project import Project

PASSPHRASE = "correct horse battery staple"


@pytest.fixture
def peopled(project: Project) -> Project:
    """With a person, ada-person."""
    with open_as(project) as session:
        agents.register(session, "ada-person", human=True, passphrase=lambda _name: PASSPHRASE)
    return project


def test_a_person_is_registered_with_the_passphrase_that_was_asked_for(project: Project) -> None:
    names: list[str] = []

    def give_passphrase(name: str) -> str:
        names.append(name)
        return PASSPHRASE

    with open_as(project) as session:
        made = agents.register(session, "ada-person", human=True, passphrase=give_passphrase)
    assert (names, made.kind, made.status) == (["ada-person"], "human", "active")
    with open_as(project, passphrase=PASSPHRASE) as session:
        assert session.person("this") == "ada-person"


def test_a_second_person_needs_the_first_ones_consent(peopled: Project) -> None:
    before = peopled.count_events()
    with open_as(peopled) as session, pytest.raises(MootError) as refused:
        agents.register(session, "bea-person", human=True, passphrase=lambda _name: PASSPHRASE)
    assert refused.value.code == "human_key_required"
    assert peopled.count_events() == before
    assert not list(peopled.keys.glob("*/bea-person.*"))
    with open_as(peopled, passphrase=PASSPHRASE) as session:
        agents.register(session, "bea-person", human=True, passphrase=lambda _name: PASSPHRASE)
        assert len(session.workspace.engine.registry().human_keys()) == 2


@pytest.mark.parametrize(
    ("acting", "passphrase", "code"),
    [
        ("amber-otter", PASSPHRASE, "human_key_required"),
        (None, "", "passphrase_required"),
        (None, "short", "passphrase_too_short"),
    ],
)
def test_a_persons_key_that_may_not_be_made_leaves_nothing(
    project: Project, acting: str | None, passphrase: str, code: str
) -> None:
    before = project.count_events()
    with open_as(project, acting) as session, pytest.raises(MootError) as refused:
        agents.register(session, "ada-person", human=True, passphrase=lambda _name: passphrase)
    assert refused.value.code == code
    assert project.count_events() == before
    assert not list(project.keys.glob("*/ada-person.*"))


def test_a_person_renews_their_own_key_under_a_new_passphrase(peopled: Project) -> None:
    with open_as(peopled, "ada-person", PASSPHRASE) as session:
        agent_keys.rotate(session, "ada-person", passphrase=lambda _name: "another one entirely")
    with open_as(peopled, passphrase=PASSPHRASE) as session, pytest.raises(MootError) as refused:
        session.person("this")
    assert refused.value.code == "wrong_passphrase"
    with open_as(peopled, passphrase="another one entirely") as session:
        assert session.person("this") == "ada-person"


def test_what_a_lost_key_holds_is_said_with_the_time_it_can_be_taken(project: Project) -> None:
    with open_as(project, "amber-otter") as session:
        scopes.reserve(session, ["src"])
    (key,) = project.keys.glob("*/amber-otter.*.key")
    key.unlink()
    with open_as(project) as session:
        retired = agents.retire(session, "amber-otter", reason="gone")
        stale_from = agents.stale_from(session, "amber-otter")
        shown = agents.show(session, "amber-otter")
    assert (retired.status, retired.still_holds) == ("retired", ["src"])
    assert stale_from is not None
    assert shown.last_seen_at is not None
    assert stale_from > shown.last_seen_at
