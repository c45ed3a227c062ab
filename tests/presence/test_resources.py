"""Things that are not files: a resource is held by one agent, and meets nothing but itself."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.presence import model
from moot.protocols.presence.model import Kind, Reservation, is_resource, key_of_file, task_resource
from moot.protocols.presence.paths import (
    classify_overlap,
    compare_scopes,
    read_path,
    read_scope,
    warn_of_symlink,
)

from .scene import (
    CRANE,
    NOON,
    OTTER,
    ROOT,
    WINDOWS_ROOT,
    crew,
    holding,
    owners,
    refusal,
    release,
    reserve,
    run,
    take_over,
)

ROOTS = st.sampled_from([ROOT, WINDOWS_ROOT])
_kinds = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{1,8}", fullmatch=True)
_names = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters="*?"), min_size=1)
_resources = st.builds(lambda kind, name: f"{kind}:{name}", _kinds, _names)
_segments = st.sampled_from(["a", "b", "db:a", "port:3000", "x:1", ":", "a:b:c", "DB:a"])
_paths = st.lists(_segments, max_size=3).map(lambda parts: "./" + "/".join(parts))


@given(_resources, _paths, ROOTS, st.booleans())
def test_a_resource_meets_no_path_whatever_its_name(
    resource: str, path: str, root: str, literal: bool
) -> None:
    thing = read_scope(resource, root)
    file = (read_path if literal else read_scope)(path, root)
    assert classify_overlap(thing.key, file.key) is Kind.DISJOINT
    assert classify_overlap(file.key, thing.key) is Kind.DISJOINT
    assert compare_scopes(resource, path, root).kind is Kind.DISJOINT
    held = holding(Reservation(thing.key, thing.shown, "x", 1, 1, 0))
    assert not list(model.overlapping_reservations(held, file.key))
    held = holding(Reservation(file.key, file.shown, "x", 1, 1, 0))
    assert not list(model.overlapping_reservations(held, thing.key))


@given(_resources, _resources, ROOTS)
def test_two_resources_meet_only_if_they_are_one(one: str, other: str, root: str) -> None:
    first, second = read_scope(one, root), read_scope(other, root)
    same = one.split(":", 1)[0].lower() == other.split(":", 1)[0].lower()
    same = same and one.split(":", 1)[1] == other.split(":", 1)[1]
    assert (classify_overlap(first.key, second.key) is Kind.EXACT) == same
    assert classify_overlap(first.key, second.key) is not Kind.PARTIAL


@given(_resources, st.sampled_from(["/x", "/x/y", "0"]), ROOTS)
def test_a_longer_name_is_another_resource(resource: str, more: str, root: str) -> None:
    short, long = read_scope(resource, root), read_scope(resource + more, root)
    assert classify_overlap(short.key, long.key) is Kind.DISJOINT


@given(_paths)
def test_what_is_shown_of_a_path_names_the_same_path_again(path: str) -> None:
    scope = read_path(path, ROOT)
    assert read_scope(scope.shown, ROOT) == scope
    assert not is_resource(scope.key)
    assert key_of_file(scope.key.removeprefix("./")) == scope.key


def test_the_kind_may_be_written_in_any_case_and_the_rest_may_not() -> None:
    assert read_scope("Port:3000", ROOT).key == read_scope("port:3000", ROOT).key == "port:3000"
    assert read_scope("db:Test", ROOT).key != read_scope("db:test", ROOT).key
    assert read_scope("db:Test", WINDOWS_ROOT).key == "db:Test"


@pytest.mark.parametrize("whole", [".", "*", "./"])
def test_the_whole_project_is_no_resource(whole: str) -> None:
    assert compare_scopes(whole, "port:3000", ROOT).kind is Kind.DISJOINT
    assert compare_scopes(whole, "./port:3000", ROOT).kind is Kind.PARTIAL


def test_a_drive_letter_begins_a_path() -> None:
    inside = read_scope(f"{WINDOWS_ROOT}/src", WINDOWS_ROOT)
    assert inside.key == "src"
    with pytest.raises(Malformed, match="outside") as problem:
        read_scope("D:/x", WINDOWS_ROOT)
    assert problem.value.code == "scope_outside"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("port:", "bad_resource"),
        ("port: 3000", "bad_resource"),
        ("port:3000 ", "bad_resource"),
        ("port:*", "unsupported_glob"),
        ("db:te?t", "unsupported_glob"),
        ("db:a\0b", "bad_scope"),
        ("db:" + "x" * 2_000, "bad_scope"),
    ],
)
def test_a_name_that_could_be_taken_for_another_is_refused(text: str, code: str) -> None:
    with pytest.raises(Malformed) as problem:
        read_scope(text, ROOT)
    assert problem.value.code == code


def test_a_task_may_have_a_slash_in_its_name() -> None:
    assert task_resource("feature/login") == "task:feature/login"
    assert warn_of_symlink("task:feature/login", "/elsewhere", ROOT) is None


def test_one_agent_at_a_time_holds_a_resource() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("port:3000", "."))
    before = owners(scenario)
    error = refusal(scenario, reserve("PORT:3000"), CRANE)
    assert error.code == "reservation_conflict"
    assert "port:3000 is held by amber-otter:" in str(error)
    assert owners(scenario) == before
    run(scenario, reserve("port:3001", "gpu:0"), CRANE)
    run(scenario, release("port:3000"), OTTER)
    run(scenario, reserve("port:3000"), CRANE)
    assert owners(scenario) == {".": OTTER, "gpu:0": CRANE, "port:3000": CRANE, "port:3001": CRANE}


def test_a_hook_never_holds_a_resource_by_a_file_of_its_name() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("port:3000"))
    run(scenario, reserve("port:3000", "db:x/y", automatic=True), CRANE)
    assert owners(scenario) == {"port:3000": OTTER, "./port:3000": CRANE, "./db:x/y": CRANE}
    assert refusal(scenario, reserve("./db:x"), OTTER).code == "reservation_conflict"


def test_a_resource_ends_and_is_taken_over_like_a_file() -> None:
    scenario = crew(OTTER, CRANE).when(reserve("gpu:0", ttl_minutes=5)).when(reserve("db:test"))
    assert refusal(scenario, take_over("db:test"), CRANE).code == "reservation_conflict"
    scenario.world.clock.forward(minutes=6)
    run(scenario, reserve("gpu:0"), CRANE)
    scenario.world.clock.forward(minutes=10)
    run(scenario, take_over("db:test"), CRANE)
    assert owners(scenario) == {"db:test": CRANE, "gpu:0": CRANE}


def test_what_was_reserved_before_resources_were_meant_is_one_now() -> None:
    """An older version recorded the same key and text, as a path."""
    assert read_scope("port:3000", ROOT).key == "port:3000"
    old = holding(Reservation("port:3000", "port:3000", OTTER, 1, 1, NOON))
    assert list(model.overlapping_reservations(old, read_scope("port:3000", ROOT).key))
