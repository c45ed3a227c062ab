"""Hooks see whether tests ran after the last edit, and how they ended."""

from __future__ import annotations

import pytest

from moot.api.observed.seen_tests import find_test_result
from moot.protocols.observed.machine import MACHINE
from moot.protocols.observed.model import EndObserving, ObserveTool, ObservingEnded, SeenTests
from moot.testing import World, given

OTTER, STREAM = "amber-otter", "observed/amber-otter"
HASH = "ab" * 32

RUNS_TESTS = (
    "pytest",
    "pytest -q tests/api",
    ".venv/bin/pytest",
    "python -m pytest -x",
    "python3.12 -m unittest discover",
    "cd src && python manage.py test",
    "uv run pytest",
    "poetry run pytest -q",
    "MOOT_SEED=1 timeout 300 nice -n 5 pytest",
    "npm test",
    "npm run test:unit",
    "npx jest",
    "pnpm exec vitest run",
    "yarn --silent test",
    "cargo test --workspace",
    "cargo nextest run",
    "go test ./...",
    "make test ARGS=tests/core",
    "./gradlew check",
    "mvn -q verify",
    "bundle exec rspec",
    "dotnet test",
    "node --test",
    "git add -A\npytest\n",
)
RUNS_NONE = (
    "ls tests",
    "echo pytest",
    "pip install pytest",
    "npm run build",
    "npm install",
    "make",
    "make build",
    "cargo build",
    "go build ./...",
    "git commit -m 'pytest'",
    "cat pytest.ini",
    "python script.py test",
    "grep 'unclosed",
    "",
)


@pytest.mark.parametrize("command", RUNS_TESTS)
def test_the_usual_commands_are_known(command: str) -> None:
    assert find_test_result(command, True, None) is SeenTests.PASSED
    assert find_test_result(command, False, None) is SeenTests.FAILED


@pytest.mark.parametrize("command", RUNS_NONE)
def test_other_commands_run_no_tests(command: str) -> None:
    assert find_test_result(command, True, None) is None


@pytest.mark.parametrize(
    ("command", "passed", "failed"),
    [
        ("pytest | tail -3", SeenTests.RAN, SeenTests.RAN),
        ("pytest 2>&1 | tail -3", SeenTests.RAN, SeenTests.RAN),
        ("set -o pipefail; pytest | tail", SeenTests.PASSED, SeenTests.FAILED),
        ("pytest; echo done", SeenTests.RAN, SeenTests.RAN),
        ("pytest || true", SeenTests.RAN, SeenTests.RAN),
        ("pytest && git commit -am x", SeenTests.PASSED, SeenTests.RAN),
        ("(cd api && pytest) && echo fine", SeenTests.PASSED, SeenTests.RAN),
        ("ruff check . && pytest", SeenTests.PASSED, SeenTests.FAILED),
        ("pytest;", SeenTests.PASSED, SeenTests.FAILED),
    ],
)
def test_a_status_counts_only_if_it_is_the_tests_own(
    command: str, passed: SeenTests, failed: SeenTests
) -> None:
    assert find_test_result(command, True, None) is passed
    assert find_test_result(command, False, None) is failed


def test_a_tool_that_tells_no_status_may_write_it_into_its_answer() -> None:
    assert find_test_result("go test", None, "Exit code: 0\nok") is SeenTests.PASSED
    assert find_test_result("go test", None, "Exit code: 1\nFAIL") is SeenTests.FAILED
    answer = {"llmContent": "Output: FAIL\nExit Code: 2"}
    assert find_test_result("go test", None, answer) is SeenTests.FAILED
    for nothing in (None, "ok", {}, {"llmContent": 3}, ["Exit code: 0"]):
        assert find_test_result("go test", None, nothing) is SeenTests.RAN


def test_a_repository_may_name_its_own() -> None:
    assert find_test_result("tools/check.sh --fast", True, None) is None
    named = ("tools/check.sh", " just verify-all ", "")
    assert find_test_result("tools/check.sh --fast", True, None, named) is SeenTests.PASSED
    assert find_test_result("just verify-all", False, None, named) is SeenTests.FAILED
    assert find_test_result("just verify", True, None, named) is SeenTests.PASSED  # known anyway
    assert find_test_result("just deploy", True, None, named) is None


def use(tests: str | None = None, *files: str) -> ObserveTool:
    command = ObserveTool(tool="Bash", input_hash=HASH, files=files)
    return (
        command
        if tests is None
        else ObserveTool(tool="Bash", input_hash=HASH, files=files, tests=tests)
    )


@pytest.mark.parametrize(
    ("uses", "seen"),
    [
        ((use(), use("passed")), None),
        ((use(None, "a.py"),), "never"),
        ((use("passed"), use(None, "a.py")), "never"),
        ((use(None, "a.py"), use("passed")), "passed"),
        ((use(None, "a.py"), use("passed", ".coverage")), "passed"),
        ((use(None, "a.py"), use("passed"), use("failed")), "failed"),
        ((use(None, "a.py"), use("failed"), use(None, "a.py"), use("ran")), "ran"),
    ],
)
def test_the_end_of_a_session_says_what_was_seen(
    uses: tuple[ObserveTool, ...], seen: str | None
) -> None:
    scene = given(World(), MACHINE, STREAM).as_(OTTER)
    for each in uses:
        scene.when(each)
    scene.when(EndObserving(reason="done"))
    expected = ObservingEnded(reason="done") if seen is None else ObservingEnded("done", seen)
    scene.then(expected)
