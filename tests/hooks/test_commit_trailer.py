"""`git config moot.trailer true`: an agent's commit names the newest event of what hooks saw."""

from __future__ import annotations

import re

import pytest

from tests.hooks.tool_calls import call
from tests.project import OTTER, Project

TRAILER = re.compile(r"^Moot-Event: (observed/\S+):(\d+) sha256:([0-9a-f]{64})$", re.MULTILINE)


@pytest.fixture
def seen(project: Project) -> Project:
    """Our git hooks are installed, and a hook has seen the agent edit a file."""
    project.ok("hook", "install", "git")
    (project.root / "a.txt").write_text("two\n", encoding="utf-8")
    project.hook("claude", call("claude-write-done", project.root))
    return project


def commit(project: Project, *more: str, **settings: str) -> str:
    """The message of the commit that was made."""
    words = ("commit", "--quiet", "--all", "--message=more", *more)
    done = project.git(*words, **settings)
    assert done.code == 0, done
    return project.git("log", "-1", "--format=%B").out


def test_an_agents_commit_leads_to_its_newest_event(seen: Project) -> None:
    seen.git("config", "moot.trailer", "true")
    found = TRAILER.search(commit(seen, MOOT_AGENT=OTTER))
    assert found is not None
    stream, number, digest = found.groups()
    with seen.workspace() as space, space.store.read() as view:
        head = view.head(stream)
    assert head is not None
    assert (head.seq, head.hash.hex()) == (int(number), digest)
    assert stream.startswith(f"observed/{OTTER}~")


def test_a_repeat_leaves_one_line(seen: Project) -> None:
    seen.git("config", "moot.trailer", "true")
    commit(seen, MOOT_AGENT=OTTER)
    message = commit(seen, "--amend", "--no-edit", MOOT_AGENT=OTTER)
    assert message.count("Moot-Event:") == 1


def test_nobody_gets_it_unasked(seen: Project) -> None:
    assert commit(seen, MOOT_AGENT=OTTER) == "more\n\n"


def test_a_persons_commit_names_nothing(seen: Project) -> None:
    seen.git("config", "moot.trailer", "true")
    assert commit(seen) == "more\n\n"


def test_a_record_that_cannot_be_read_stops_no_commit(seen: Project) -> None:
    seen.git("config", "moot.trailer", "true")
    (seen.root / ".git" / "hooks" / "pre-commit").unlink()  # which would stop it
    seen.ledger.write_bytes(b"")
    done = seen.git("commit", "--quiet", "--all", "--message=more", MOOT_AGENT=OTTER)
    assert (done.code, "does not name its event" in done.err) == (0, True)


def test_uninstalling_takes_the_hook_out(seen: Project) -> None:
    hook = seen.root / ".git" / "hooks" / "commit-msg"
    assert hook.exists()
    seen.ok("hook", "uninstall", "git", "--all")
    assert not hook.exists()
