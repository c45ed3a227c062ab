"""What one types first: `doctor`, `log`, `explain`, `completion`, `clean`, `uninstall`."""

from __future__ import annotations

from pathlib import Path

import pytest

from moot.api.workspace.explaining import explain_code, packages_with_rules, raised_codes, rules_of
from moot.workspace.health_checks import RULES as DOCTOR_RULES
from tests.project import LIST, Project, git


@pytest.fixture
def repository(project: Project) -> Project:
    """The project as a repository with a linked worktree `side`, on its own branch."""
    git(project.root, "init", "--quiet", "--initial-branch=main")
    (project.root / "a.py").write_text("a = 1\n")
    (project.root / ".gitignore").write_text("*.secret\n.moot/\n")
    git(project.root, "add", ".gitignore", "a.py")
    git(project.root, "commit", "--quiet", "-m", "first")
    git(project.root, "worktree", "add", "--quiet", str(side(project)), "-b", "feature")
    return project


def side(project: Project) -> Path:
    return project.root.parent / "side"


def leave_side(project: Project) -> None:
    """An agent works in the linked worktree, and ends."""
    project.ok("join", "--register", "coral-finch", cwd=side(project))
    project.ok("agent", "retire", "coral-finch")


# Explaining ---------------------------------------------------------------------------------------


def test_doctor_and_log_answer_under_their_short_names(project: Project) -> None:
    assert project.ok("doctor") == project.ok("ledger", "doctor")
    assert project.ok("log", "registry") == project.ok("ledger", "log", "registry")
    assert project.refused("log", LIST) == ("not_found", 1)


def test_a_rule_that_is_checked_in_several_places_is_told_once(project: Project) -> None:
    told = [each for each in project.ok("explain", "not_you")["meanings"] if each["rule"]]
    assert len({(each["rule"], each["sentence"]) for each in told}) == len(told)
    assert any("BNC-165" in each["why"] and "BNC-008" in each["why"] for each in told)


def test_every_code_of_an_error_is_explained() -> None:
    known = {each.code: each for each in raised_codes()}
    assert len(known) > 100
    for code in ("reservation_conflict", *list(known)[::25]):
        assert any(meaning.sentence for meaning in explain_code(code)), code


@pytest.mark.parametrize("shown", ["B-11", "b-11", "format-6", "format-7/artifacts", "format-7"])
def test_the_id_that_a_finding_is_shown_with_is_explained(shown: str) -> None:
    """`warning B-11 src/auth: ...` is what one types next."""
    meanings = explain_code(shown)
    assert all(meaning.rule.lower().startswith(shown.lower()) for meaning in meanings)
    assert all(meaning.sentence for meaning in meanings)


def test_every_rule_is_explained_by_its_id_and_by_its_code() -> None:
    rules = [rule for package in packages_with_rules() for rule in rules_of(package)]
    for rule in [*rules[::40], *DOCTOR_RULES[::10]]:
        by_id = [meaning.sentence for meaning in explain_code(rule.id)]
        by_code = [meaning.sentence for meaning in explain_code(rule.code)]
        assert rule.sentence in by_id, rule.id
        assert rule.sentence in by_code, rule.code


def test_the_code_of_an_error_can_be_typed_as_it_was_printed(bare: Project) -> None:
    said = bare.run("explain", "[no_workspace]")
    assert said.code == 0
    assert "no_workspace · Unavailable" in said.out
    assert "what to do  run `moot init` first" in said.out


def test_a_slip_gets_the_nearest_code(bare: Project) -> None:
    done = bare.json("explain", "no_workspase")
    assert (done.error["code"], done.code) == ("unknown_code", 1)
    assert done.error["hint"] == "did you mean `moot explain no_workspace`?"


# Completion ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_says_how_to_switch_it_on_in_ones_own_shell(bare: Project, shell: str) -> None:
    said = bare.run("completion", SHELL=f"/usr/bin/{shell}").out
    assert f"moot completion {shell}" in said
    assert bare.ok("completion", shell)["script"]


def test_completion_names_all_shells_if_ones_own_is_another(bare: Project) -> None:
    said = bare.run("completion", SHELL="/bin/tcsh").out
    assert all(f"moot completion {shell}" in said for shell in ("bash", "zsh", "fish"))


# Cleaning up --------------------------------------------------------------------------------------


def test_a_merged_clean_worktree_goes_with_its_branch(repository: Project) -> None:
    leave_side(repository)
    (listed,) = repository.ok("clean")["leftovers"]
    assert (listed["kind"], listed["keep"], listed["removed"]) == ("worktree", [], False)
    assert side(repository).is_dir()
    removed = repository.ok("clean", "--remove")["leftovers"]
    assert [(each["kind"], each["removed"]) for each in removed] == [
        ("worktree", True),
        ("branch", True),
    ]
    assert not side(repository).exists()
    assert "feature" not in git(repository.root, "branch", "--list")
    assert repository.ok("clean")["leftovers"] == []


def test_hooks_of_ours_do_not_keep_a_worktree(repository: Project) -> None:
    repository.ok("hook", "install", "claude", cwd=side(repository))
    leave_side(repository)
    (listed,) = repository.ok("clean")["leftovers"]
    assert listed["keep"] == []


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.py", "not committed: a.py"),
        ("new.py", "not committed: new.py"),
        ("key.secret", "ignored by git, so the only copy: key.secret"),
    ],
)
def test_a_worktree_with_anything_of_its_own_stays(
    repository: Project, name: str, reason: str
) -> None:
    leave_side(repository)
    (side(repository) / name).write_text("only here\n")
    (listed,) = repository.ok("clean", "--remove")["leftovers"]
    assert (listed["keep"], listed["removed"]) == ([reason], False)
    assert (side(repository) / name).read_text() == "only here\n"


def test_commits_that_are_not_merged_keep_worktree_and_branch(repository: Project) -> None:
    leave_side(repository)
    (side(repository) / "b.py").write_text("b = 1\n")
    git(side(repository), "add", "b.py")
    git(side(repository), "commit", "--quiet", "-m", "not merged")
    (listed,) = repository.ok("clean", "--remove")["leftovers"]
    assert listed["keep"] == ["it has commits that are not merged into the main checkout"]
    git(repository.root, "merge", "--quiet", "feature")
    assert all(each["removed"] for each in repository.ok("clean", "--remove")["leftovers"])


def test_a_worktree_in_which_someone_works_or_a_merge_waits_stays(repository: Project) -> None:
    repository.ok("join", "--register", "coral-finch", cwd=side(repository))
    git(side(repository), "update-ref", "MERGE_HEAD", "HEAD")
    git(repository.root, "worktree", "lock", str(side(repository)))
    (listed,) = repository.ok("clean", "--remove")["leftovers"]
    assert listed["keep"] == [
        "coral-finch has not left",
        "it is locked (`git worktree unlock`)",
        "a merge or rebase is not finished there",
    ]
    assert side(repository).is_dir()


def test_what_nobody_of_ours_worked_on_is_not_even_listed(repository: Project) -> None:
    git(repository.root, "branch", "mine")
    assert repository.ok("clean", "--remove")["leftovers"] == []
    assert "mine" in git(repository.root, "branch", "--list")
    assert side(repository).is_dir()


# Uninstalling -------------------------------------------------------------------------------------


def test_uninstall_takes_all_hooks_out_and_names_what_stays(repository: Project) -> None:
    before = repository.ledger.parent
    repository.ok("hook", "install", "claude")
    repository.ok("hook", "install", "git")
    repository.ok("hook", "install", "claude", cwd=side(repository))
    (repository.root / "moot.toml").write_text('[protect]\nunmerged = "tell"\n')
    done = repository.ok("uninstall")
    assert len(done["changed"]) >= 3
    assert not (repository.root / ".claude" / "settings.local.json").exists()
    assert not (side(repository) / ".claude" / "settings.local.json").exists()
    kept = [place["where"] for place in done["kept"]]
    assert kept[0] == str(before)
    assert str(repository.root / "moot.toml") in kept
    assert all(Path(where).exists() for where in kept[:-1])
    assert repository.ok("verify")["verdict"] == "valid"


def test_an_agent_cannot_take_the_guard_out(repository: Project) -> None:
    repository.ok("hook", "install", "claude")
    settings = repository.root / ".claude" / "settings.local.json"
    before = settings.read_bytes()
    assert repository.refused("--as", "amber-otter", "uninstall") == ("human_key_required", 1)
    assert settings.read_bytes() == before
