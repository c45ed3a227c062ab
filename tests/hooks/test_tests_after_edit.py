"""At the end one line says whether tests ran after the last edit, as the hooks saw it."""

from __future__ import annotations

import json

import pytest

from tests.hooks.fake_tools import prepare_path
from tests.hooks.test_guarded_run import put_claude
from tests.hooks.test_session_events import hand_over
from tests.hooks.tool_calls import call
from tests.project import OTTER, Project

NEVER = "moot: no tests ran after the last edit"
PASSED = "moot: tests ran after the last edit: exit 0"
FAILED = "moot: tests ran after the last edit: failed"


def edit(project: Project) -> None:
    project.hook("claude", call("claude-write-done", project.root))


def run_shell(project: Project, command: str, *, failed: bool = False) -> None:
    event = {"hook_event_name": "PostToolUseFailure", "error": "Exit code 1"} if failed else {}
    asked = {"command": command}
    project.hook("claude", call("claude-bash-done", project.root, tool_input=asked, **event))


def shown_at_stop(project: Project, tool: str = "claude") -> str:
    """What the tool shows its person when the model stops."""
    out = project.hook(tool, call(f"{tool}-stop", project.root)).out
    return str(json.loads(out)["systemMessage"]) if out else ""


@pytest.fixture(autouse=True)
def session_has_started(project: Project) -> None:
    project.hook("claude", call("claude-start", project.root))


def test_who_edits_and_does_not_test_is_told_once(project: Project) -> None:
    edit(project)
    assert shown_at_stop(project) == NEVER
    assert shown_at_stop(project) == ""
    edit(project)
    assert shown_at_stop(project) == NEVER


def test_tests_after_the_last_edit_count_and_those_before_do_not(project: Project) -> None:
    run_shell(project, "pytest -q")
    edit(project)
    assert shown_at_stop(project) == NEVER
    run_shell(project, "pytest -q", failed=True)
    assert shown_at_stop(project) == FAILED
    run_shell(project, "pytest -q")
    assert shown_at_stop(project) == PASSED


def test_that_none_ran_is_said_only_if_it_is_known(project: Project) -> None:
    edit(project)
    run_shell(project, "./own-checks")
    said = shown_at_stop(project)
    assert said.startswith("moot: no run of tests was seen after the last edit")
    assert "`tests.command` of moot.toml" in said


@pytest.mark.parametrize("command", ["pytest -q | tail -3", "pytest -q; echo done"])
def test_a_result_that_was_hidden_says_how_to_show_it(project: Project, command: str) -> None:
    edit(project)
    run_shell(project, command)
    said = shown_at_stop(project)
    assert "their result was not seen" in said
    assert "hides the exit code (run them alone, or with `set -o pipefail`)" in said


def test_who_edits_nothing_is_told_nothing(project: Project) -> None:
    run_shell(project, "pytest -q")
    assert shown_at_stop(project) == ""


def test_a_model_that_goes_on_anyway_reads_it(project: Project) -> None:
    edit(project)
    hand_over(project)
    answer = json.loads(project.hook("claude", call("claude-stop", project.root)).out)
    assert answer["decision"] == "block"
    assert answer["reason"].splitlines()[-1] == NEVER


def test_a_repository_names_its_own_tests_and_runs_nothing_by_it(project: Project) -> None:
    (project.root / "moot.toml").write_text('[tests]\ncommand = "tools/check.sh, sh prove"\n')
    edit(project)
    run_shell(project, "tools/check.sh --fast")
    assert shown_at_stop(project) == PASSED


def test_it_stands_on_record_at_the_end_and_with_what_was_watched(project: Project) -> None:
    edit(project)
    run_shell(project, "npm test")
    (session,) = project.ok("trace", "observed", "--agent", OTTER)["sessions"]
    assert session["tests"] == "passed"
    edit(project)
    (session,) = project.ok("trace", "observed", "--agent", OTTER)["sessions"]
    assert session["tests"] == "never"


def test_the_end_of_a_session_of_its_own_says_it(project: Project) -> None:
    name = project.hook("claude", call("claude-start", project.root), None).out.split()[2]
    project.hook("claude", call("claude-write-done", project.root), None)
    project.hook("claude", call("claude-end", project.root), None)
    (session,) = project.ok("trace", "observed", "--agent", name)["sessions"]
    words = ("ledger", "log", session["id"], "--type", "observed.observing_ended")
    (event,) = project.ok(*words)["events"]
    assert event["data"]["tests"] == "never"
    assert "never" in project.run("trace", "observed", "--agent", name).out


# At the end of `moot run`.

EDIT_AND_TEST = """
def after(tool, **asked):
    said = {"session_id": "s1", "cwd": os.getcwd(), "hook_event_name": "PostToolUse",
            "tool_name": tool, "tool_input": asked, "tool_use_id": "t"}
    subprocess.run(["moot", "hook", "claude"], input=json.dumps(said), text=True, check=True,
                   stdout=subprocess.DEVNULL, timeout=60)

speak()
after("Write", file_path=os.path.join(os.getcwd(), "new.py"), content="x")
if "tested" in sys.argv:
    after("Bash", command="pytest -q")
"""


@pytest.mark.parametrize(("words", "line"), [((), NEVER), (("tested",), PASSED)])
def test_the_end_of_a_run_says_it(project: Project, words: tuple[str, ...], line: str) -> None:
    prepare_path(project)
    put_claude(project, EDIT_AND_TEST)
    done = project.spawn("run", "--name", "coral-finch", "--", "claude", *words)
    assert done.code == 0, done.err
    assert line in done.err.splitlines()
