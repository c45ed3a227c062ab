"""Each command is asked about, and then really done in a copy: what was held back does harm there,
and what was allowed does none. The truth is read from the disk, not from Moot.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.cli.founding import found
from tests.hooks.yard import CRANE, IDENTITY, OTTER, Yard, call, reason

WORK = "the holder's work\n"
# Held and changed by the crane: tracked ones, one that git does not track, one that is staged.
HELD = ("a.txt", "sub/d.txt", "new.txt", "fresh/deep.txt", "staged.txt", "notes.md")
FREE = ("c.txt", "sub/e.txt", "other/f.py")
OWN = "b.txt"
PERSONS = "person.txt"  # changed by somebody who is no agent


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Yard]:
    """One worktree in which two agents work; nothing in these tests changes it."""
    top = tmp_path_factory.mktemp("truth")
    yard = Yard(top / "project", top / "keys")
    yard.root.mkdir()
    tracked = ("a.txt", "sub/d.txt", "staged.txt", "notes.md", OWN, PERSONS, *FREE)
    for name in tracked:
        write(yard.root / name, "one\n")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        assert yard.git(*words).code == 0
    assert yard.git("branch", "feature").code == 0
    found(yard, OTTER, CRANE)
    for agent, names in ((CRANE, HELD), (OTTER, (OWN, "mine.txt"))):
        for name in names:
            assert yard.hook("claude", call("claude-write", yard.root, name), agent) == Reply()
            write(yard.root / name, WORK)
    assert yard.git("add", "staged.txt").code == 0
    write(yard.root / PERSONS, WORK)
    yield yard
    assert {name: text(yard.root / name) for name in HELD} == dict.fromkeys(HELD, WORK)


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


def text(file: Path) -> str | None:
    return file.read_text("utf-8") if file.is_file() else None


def asks(yard: Yard, command: str) -> Reply:
    said = call("claude-bash", yard.root, tool_input={"command": command})
    return yard.hook("claude", said, OTTER)


def harmed(yard: Yard, command: str, folder: Path) -> set[str]:
    """Do it in a copy: which of the held files are not as they were, or are committed?"""
    copy = folder / "project"
    shutil.copytree(yard.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".moot"))
    env = {**yard.env, **IDENTITY, "HOME": str(folder)}
    subprocess.run(
        ["bash", "-c", command], cwd=copy, env=env, check=False, capture_output=True, timeout=60
    )
    log = ["git", "log", "--name-only", "--format=", "main~0", "^HEAD@{1}", "--"]
    done = subprocess.run(log, cwd=copy, env=env, check=False, capture_output=True, timeout=60)
    committed = set(done.stdout.decode().split())
    work = (*HELD, PERSONS)
    return {name for name in work if text(copy / name) != WORK or name in committed}


DESTRUCTIVE = (
    # git: what is not committed
    "git checkout -- .",
    "git checkout .",
    "git checkout a.txt",
    "git checkout -- a.txt",
    "git checkout HEAD -- a.txt",
    "git checkout main a.txt",
    "git checkout -f",
    "git checkout -f feature",
    "git checkout --force main",
    "git checkout -- '*.txt'",
    "git checkout -- [ab].txt",
    "git checkout sub",
    "cd sub && git checkout -- .",
    "cd sub; git checkout d.txt",
    "(cd sub && git restore .)",
    "pushd sub && git checkout .",
    "git -C sub checkout -- d.txt",
    "git restore .",
    "git restore a.txt",
    "git -c alias.co=checkout co -- .",
    "git restore -- a.txt c.txt",
    "git restore --source=HEAD a.txt",
    "git restore -s HEAD --staged --worktree .",
    "git restore --staged --worktree staged.txt",
    "git restore :/",
    "git restore -- ':(top)sub'",
    "git reset --hard",
    "git reset --hard HEAD",
    "git reset -q --hard feature",
    "git update-index -q --refresh; git reset --merge",
    "git update-index -q --refresh; git add a.txt; git reset --merge",
    "git add new.txt && git stash --staged",
    "git switch -f feature",
    "git switch --discard-changes main",
    "git stash",
    "git stash push",
    "git stash -u",
    "git stash push -m 'keep this' -- a.txt",
    "git stash save later",
    "git stash --staged",
    "git stash && git stash drop",
    "git clean -f",
    "git clean -fd",
    "git clean -xfd -e .moot",
    "git clean -f new.txt",
    "git clean -fd fresh",
    "git read-tree -u --reset HEAD",
    "git checkout-index -f -a",
    "git checkout-index -f a.txt",
    "git --work-tree=. --git-dir=.git checkout -- a.txt",
    "timeout 20 git checkout -- .",
    "env GIT_TRACE=0 git reset --hard",
    "bash -c 'git checkout -- .'",
    'sh -c "cd sub && git checkout ."',
    "eval 'git checkout -- .'",
    "echo 'git reset --hard' | sh",
    "bash <<'EOF'\ngit stash\nEOF",
    "if true; then git reset --hard; fi",
    "for f in a.txt c.txt; do git checkout -- $f; done",
    'F=a.txt; git checkout -- "$F"',
    'cd "$(git rev-parse --show-toplevel)" && git checkout .',
    "git diff --name-only | xargs git checkout --",
    "git status --short | awk '{print $2}' | xargs -I{} git restore {}",
    "python3 -c \"import subprocess; subprocess.run(['git', 'checkout', '--', '.'])\"",
    # commits of others' files
    "git add -A && git commit -m all",
    "git add . && git commit -qm all",
    "git commit -am all",
    "git commit -m staged",
    "git commit -m one -- a.txt",
    "git add a.txt\ngit commit -m one",
    "git add -u; git commit -m tracked",
    # files
    "rm a.txt",
    "rm -rf sub",
    "rm -f ./a.txt b.txt",
    "rm *.txt",
    "rm -r -- sub/",
    "rm $PWD/a.txt",
    "mv a.txt z.txt",
    "mv c.txt a.txt",
    "mv sub elsewhere",
    "mv c.txt a.txt b.txt other",
    "cp c.txt a.txt",
    "cp -f c.txt ./a.txt",
    "mkdir -p x && cp c.txt x/d.txt && cp x/d.txt sub",
    "install -m 644 c.txt a.txt",
    "ln -sf c.txt a.txt",
    "echo hi > a.txt",
    "echo hi>a.txt",
    "echo hi >> a.txt",
    "echo hi >| a.txt",
    "ls &> a.txt",
    "ls nowhere 2> a.txt",
    ": > a.txt",
    "> a.txt",
    "{ echo 1; echo 2; } > a.txt",
    "cat > a.txt <<EOF\nhello\nEOF",
    "cat <<'EOF' > sub/d.txt\nhello\nEOF",
    "echo hi | tee a.txt",
    "echo hi | tee -a c.txt a.txt",
    "sed -i 's/holder/x/' a.txt",
    "sed -i.bak -e s/holder/x/ -- *.txt",
    "perl -pi -e 's/holder/x/' a.txt",
    "truncate -s 0 a.txt",
    "dd if=/dev/null of=a.txt",
    "shred -u a.txt",
    "unlink a.txt",
    "sort -o a.txt c.txt",
    "find . -name '*.txt' -delete",
    "find sub -type f -delete",
    "find . -name 'd.txt' -exec rm {} \\;",
    "find . -type f -name '*.txt' -exec sed -i s/holder/x/ {} +",
    "find sub -name '*.txt' | xargs rm",
    "ls sub/d.txt | xargs rm",
    "grep -rl holder sub | xargs sed -i s/holder/x/",
    "git rm -f a.txt",
    "git mv -f c.txt a.txt",
    "python3 -c \"open('a.txt', 'w').write('x')\"",
    "python3 - <<'EOF'\nfrom pathlib import Path\nPath('sub/d.txt').write_text('x')\nEOF",
    "python3 -c \"import shutil; shutil.rmtree('sub')\"",
    "perl -e 'unlink(\"a.txt\")'",
    "nice -n 5 rm a.txt",
    "true && rm a.txt || true",
    "rm {a,c}.txt",
    "rm 'a.txt'",
    # a person's
    "git checkout -- person.txt",
    "git stash push person.txt",
    "rm person.txt",
    "echo hi > person.txt",
    "cp c.txt person.txt",
    "mv c.txt person.txt",
    "git rm -f person.txt",
    "ls | tee person.txt",
    'rm "a".txt',
    "rm a\\.txt",
)


@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_what_would_destroy_held_work_is_held_back(
    shared: Yard, tmp_path: Path, command: str
) -> None:
    said = reason(asks(shared, command))
    assert CRANE in said or f"{PERSONS}: changed by a person" in said
    assert "Nothing was run" in said
    assert harmed(shared, command, tmp_path), "it does no harm: this was a needless refusal"


HARMLESS = (
    "ls -la",
    "cat person.txt",
    "git diff person.txt",
    "cp person.txt c.txt",
    "sed 's/a/b/' person.txt",
    "cat a.txt sub/d.txt | head -5",
    "grep -rn holder . 2>/dev/null",
    "git status --short",
    "git diff a.txt",
    "git log --oneline -- a.txt > /dev/null 2>&1",
    "git show HEAD:a.txt",
    "git add a.txt",
    "git branch topic",
    "git stash list",
    "git stash show",
    "git reset a.txt",
    "git reset --soft HEAD",
    "git add b.txt && git stash push -- b.txt",
    "git restore --staged staged.txt",
    "git checkout main",
    "git checkout -b topic",
    "git switch feature",
    "git switch -c topic",
    "git checkout c.txt",
    "git checkout -- c.txt sub/e.txt",
    "git restore b.txt",
    "git checkout -- b.txt",
    "git stash push -- b.txt",
    "git clean -n",
    "git clean -nfd",
    "git clean -f mine.txt",
    "git merge feature",
    "git fetch --all",
    "git worktree list",
    "git commit -m own -- b.txt",
    "git commit --dry-run -a",
    "rm b.txt",
    "rm -f nothing-there.txt",
    "rm -rf build dist __pycache__",
    "mv c.txt c2.txt",
    "cp a.txt /tmp/copy-of-a.txt",
    "cp a.txt copy.txt",
    "cp a.txt other/",
    "echo hi > c.txt",
    "echo 'rm a.txt'",
    'echo "git checkout -- ."',
    "git log --grep='rm -rf sub'",
    "git commit -m 'rm a.txt > x' -- b.txt",
    "sed -n 1,5p a.txt",
    "sed 's/a/b/' a.txt > c.txt",
    "sort a.txt",
    "awk '{ if ($1 > 2) print }' a.txt",
    "test a.txt -nt c.txt && echo newer",
    "[[ a.txt > c.txt ]] && echo yes",
    "find . -name '*.pyc' -delete",
    "find . -name '*.orig' -exec rm {} +",
    "find other -type f | xargs grep one",
    "python3 -c \"print(open('a.txt').read())\"",
    "python3 -c \"open('c.txt', 'w').write(open('b.txt').read())\"",
    "python3 - <<'EOF'\nprint('a.txt')\nEOF",
    "cat <<'EOF'\nrm a.txt\ngit checkout -- .\nEOF",
    "cd /tmp && ls > /dev/null",
    'cd "$(mktemp -d)" && echo x > a.txt && rm a.txt',
    "D=$(mktemp -d); cd $D && git init -q . && echo x > a.txt && rm -rf sub",
    "wc -l < a.txt",
    "diff a.txt c.txt",
    "tar cf /tmp/all.tar a.txt",
    "make -n 2>&1 | tee /dev/null",
    "rm -i /dev/null < /dev/null",
    "ls *.txt | xargs wc -l",
    "true # rm a.txt",
    "x=1; while [ $x -lt 2 ]; do x=2; done",
    "git checkout -p < /dev/null",
    "git rm --cached staged.txt -f",
    "tee < a.txt",
)


@pytest.mark.parametrize("command", HARMLESS)
def test_what_does_no_harm_is_not_held_back(shared: Yard, tmp_path: Path, command: str) -> None:
    assert harmed(shared, command, tmp_path) == set()
    assert asks(shared, command) == Reply()
