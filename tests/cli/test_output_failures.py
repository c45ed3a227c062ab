"""When standard output takes no more: what was done is done, and is said where it can be."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.project import MOOT, Project

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.is_char_device(), reason="no device that is always full")


def into_full(project: Project, *words: str, err: bool = False) -> tuple[int, str]:
    """Exit code and standard error, if that is not full as well."""
    with FULL.open("wb") as full:
        done = subprocess.run(
            [*MOOT, *words],
            cwd=project.root,
            env=project.env,
            stdin=subprocess.DEVNULL,
            stdout=full,
            stderr=full if err else subprocess.PIPE,
            check=False,
        )
    return done.returncode, (done.stderr or b"").decode()


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_command_that_was_done_says_so_although_its_answer_is_lost(
    project: Project, form: tuple[str, ...]
) -> None:
    code, err = into_full(project, "agent", "register", "coral-finch", *form)
    assert code == 4
    assert err.startswith("error [answer_not_written] the answer could not be written: No space")
    assert "the command has done its work" in err
    assert len(err.splitlines()) == 2
    assert "coral-finch" in project.run("agent", "list").out


def test_a_long_answer_that_is_lost_is_no_bug_either(project: Project) -> None:
    for words in (("completion", "zsh", "--json"), ("completion", "zsh"), ("--help",)):
        code, err = into_full(project, *words)
        assert code == 4
        assert "[answer_not_written]" in err
        assert "Traceback" not in err
        assert "bug" not in err


def test_a_refusal_whose_envelope_is_lost_is_told_on_standard_error(project: Project) -> None:
    code, err = into_full(project, "agent", "show", "coral-finch", "--json")
    assert code == 4
    assert "error [agent_not_found] no agent is called coral-finch" in err
    assert "[answer_not_written]" in err
    assert "is done" not in err
    code, err = into_full(project, "nonsense", "--json")
    assert code == 4
    assert "error [usage]" in err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("agent", "list"), 4),
        (("agent", "list", "--json"), 4),
        (("agent", "show", "coral-finch"), 1),
        (("agent", "show", "coral-finch", "--json"), 4),
        (("nonsense",), 2),
        (("--help",), 4),
    ],
)
def test_with_standard_error_full_as_well_only_the_exit_code_is_left(
    project: Project, words: tuple[str, ...], expected: int
) -> None:
    assert into_full(project, *words, err=True) == (expected, "")


def test_a_program_runs_although_nobody_hears_what_is_said_beside_it(project: Project) -> None:
    code = "import sys; open('ran', 'w').close(); sys.exit(7)"
    words = ("run", "--name", "coral-finch", "--", sys.executable, "-c", code)
    assert into_full(project, *words, err=True) == (7, "")
    assert (project.root / "ran").exists()
    assert project.ok("agent", "show", "coral-finch")["status"] == "retired"


def test_an_interrupt_is_an_envelope_too(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("moot.api.presence.agenda.time.sleep", interrupted)
    done = project.json("agenda", "--wait", "600")
    assert done.code == 128 + signal.SIGINT
    assert (done.error["code"], done.envelope["command"]) == ("interrupted", "agenda")
    assert done.error["hint"]
