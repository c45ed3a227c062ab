"""`action.yml`: its own steps are run, as GitHub would, on pull requests that are made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.project import IDENTITY, Project

ROOT = Path(__file__).parents[2]
QUESTION = ("ask", "Queue: Postgres or Kafka?", "--option", "Postgres", "--option", "Kafka")
VOICES = ("--with", "fern-hare=rules:approve,moss-lynx=rules:sceptic,pine-vole=rules:reject")


def read_yaml(file: Path) -> Any:
    return YAML(typ="safe").load(file.read_text("utf-8"))


class PullRequest:
    """A repository whose base has the trust file; what is committed after it is the request."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "-q", "-b", "main")
        self.base = self.commit()

    def git(self, *words: str) -> str:
        env = {**os.environ, **IDENTITY}
        words = ("git", *words)
        done = subprocess.run(
            words, cwd=self.root, env=env, check=True, capture_output=True, timeout=60
        )
        return done.stdout.decode().strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-qm", "a commit", "--allow-empty")
        return self.git("rev-parse", "HEAD")

    def check(self, paths: str = "") -> tuple[int, str]:
        """Run every step of the action; the exit code of the first that fails, and all output."""
        action = read_yaml(ROOT / "action.yml")
        given = {"trust": action["inputs"]["trust"]["default"], "paths": paths, "base": self.base}
        printed = ""
        for step in action["runs"]["steps"]:
            env = {name: _fill(value, given) for name, value in step.get("env", {}).items()}
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=self.root,
                env={**os.environ, **_with_this_python(), "GITHUB_ACTION_PATH": str(ROOT), **env},
                capture_output=True,
                encoding="utf-8",
                check=False,
                timeout=120,
            )
            printed += done.stdout + done.stderr
            if done.returncode:
                return done.returncode, printed
        return 0, printed


def _fill(text: str, given: dict[str, str]) -> str:
    for name, value in given.items():
        text = text.replace("${{ inputs." + name + " }}", value)
    assert "${{" not in text
    return text


def _with_this_python() -> dict[str, str]:
    return {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture
def request_(tmp_path: Path) -> PullRequest:
    """A decision was made elsewhere; its page and its receipt are in the pull request."""
    work = tmp_path / "work"
    work.mkdir()
    project = Project(work, tmp_path / "keys")
    project.ok("init")
    project.ok(*QUESTION, *VOICES)
    project.ok("receipt", "q-1", "-o", "queue.md")
    root = tmp_path / "repository"
    (root / "docs").mkdir(parents=True)
    shutil.copy(project.pinned, root / "moot-trust.json")
    pull = PullRequest(root)
    for name in ("queue.md", "queue.json"):
        shutil.copy(work / name, root / "docs" / name)
    pull.commit()
    return pull


def test_a_receipt_and_its_page_that_hold_pass(request_: PullRequest) -> None:
    code, printed = request_.check()
    assert (code, "2 checked, 0 do not hold" in printed) == (0, True), printed
    assert request_.check("src")[1].strip().endswith("0 checked, 0 do not hold")


def test_one_changed_byte_fails(request_: PullRequest) -> None:
    file = request_.root / "docs" / "queue.json"
    file.write_bytes(file.read_bytes().replace(b"Postgres", b"Postgras", 1))
    request_.commit()
    code, printed = request_.check("docs")
    assert code == 1
    assert "BAD docs/queue.json: verdict: tampered" in printed
    assert "BAD docs/queue.md: does not name queue.json as it is" in printed


def test_a_page_without_its_receipt_fails(request_: PullRequest) -> None:
    request_.git("rm", "-q", "docs/queue.json")
    request_.commit()
    code, printed = request_.check()
    assert (code, "its proof queue.json is not there" in printed) == (1, True)


def test_a_request_cannot_bring_the_keys_that_prove_it(
    request_: PullRequest, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    project = Project(other, tmp_path / "other-keys")
    project.ok("init")
    project.ok(*QUESTION, *VOICES)
    project.ok("receipt", "q-1", "-o", "queue.md")
    for name in ("queue.md", "queue.json"):
        shutil.copy(other / name, request_.root / "docs" / name)
    shutil.copy(project.pinned, request_.root / "moot-trust.json")
    request_.commit()
    code, printed = request_.check()
    assert code == 1
    assert "BAD docs/queue.json" in printed


def test_without_a_trust_file_nothing_is_called_good(request_: PullRequest) -> None:
    request_.base = request_.git("hash-object", "-t", "tree", "/dev/null")
    code, printed = request_.check()
    assert (code, "not checked" in printed) == (4, True), printed


def test_the_ready_workflow_gives_the_action_what_it_takes() -> None:
    (job,) = read_yaml(ROOT / "docs" / "how-to" / "moot-records.yml")["jobs"].values()
    (step,) = [step for step in job["steps"] if "moot@" in step["uses"]]
    assert step["with"].keys() <= read_yaml(ROOT / "action.yml")["inputs"].keys()
