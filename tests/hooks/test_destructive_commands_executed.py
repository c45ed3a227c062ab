"""Each command is asked about, and then really done in a copy: what was held back does harm there,
and what was allowed does none. The truth is read from the disk, not from Moot.
"""

from __future__ import annotations

import io
import shutil
import subprocess
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.surfaces.hooks.entry import Reply
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, IDENTITY, OTTER, Project

WORK = "the holder's work\n"
# Held and changed by the crane: tracked ones, one that git does not track, one that is staged.
HELD = ("a.txt", "sub/d.txt", "new.txt", "fresh/deep.txt", "staged.txt", "notes.md", "a.py")
FREE = ("c.txt", "sub/e.txt", "other/f.py")
OWN = "b.txt"
PERSONS = "person.txt"  # changed by somebody who is no agent


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """One worktree in which two agents work; nothing in these tests changes it."""
    top = tmp_path_factory.mktemp("truth")
    project = Project(top / "project", top / "keys")
    project.root.mkdir()
    tracked = ("a.txt", "sub/d.txt", "staged.txt", "notes.md", OWN, PERSONS, *FREE)
    for name in tracked:
        write(project.root / name, "one\n")
    make_inputs(project.root / "inputs")
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        assert project.git(*words).code == 0
    assert project.git("branch", "feature").code == 0
    tree = project.git("rev-parse", "HEAD^{tree}").out.strip()
    other = project.git("commit-tree", "-m", "apart", tree).out.strip()
    assert project.git("branch", "elsewhere", other).code == 0
    project.init(OTTER, CRANE)
    for agent, names in ((CRANE, HELD), (OTTER, (OWN, "mine.txt"))):
        for name in names:
            assert (
                project.hook("claude", call("claude-write", project.root, name), agent) == Reply()
            )
            write(project.root / name, WORK)
    assert project.git("add", "staged.txt").code == 0
    write(project.root / PERSONS, WORK)
    yield project
    assert {name: text(project.root / name) for name in HELD} == dict.fromkeys(HELD, WORK)


def make_inputs(folder: Path) -> None:
    """A patch, archives and a script that would write `a.txt`, and the same for `c.txt`."""
    folder.mkdir()
    for name in ("a.txt", "c.txt"):
        before = WORK if name == "a.txt" else "one\n"
        patch = f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{before}+patched\n"
        write(folder / f"{name}.diff", patch)
        head = "From 0 Mon Sep 17 00:00:00 2001\nFrom: a <a@b>\nSubject: x\n\n---\n"
        write(folder / f"{name}.mbox", head + patch)
        write(folder / f"{name}.sh", f"rm {name}\n")
        with tarfile.open(folder / f"{name}.tar", "w") as tar:
            member = tarfile.TarInfo(name)
            member.size = 3
            tar.addfile(member, io.BytesIO(b"tar"))
            deep = tarfile.TarInfo(f"deep/{name}")
            deep.size = 3
            tar.addfile(deep, io.BytesIO(b"tar"))
        with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
            archive.writestr(name, "zip")


def write(file: Path, content: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(content, encoding="utf-8")


def text(file: Path) -> str | None:
    return file.read_text("utf-8", "replace") if file.is_file() else None


def asks(project: Project, command: str) -> Reply:
    said = call("claude-bash", project.root, tool_input={"command": command})
    return project.hook("claude", said, OTTER)


def harmed(project: Project, command: str, folder: Path) -> set[str]:
    """Do it in a copy: which of the held files are not as they were, or are committed?"""
    copy = folder / "project"
    shutil.copytree(project.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".moot"))
    env = {**project.env, **IDENTITY, "HOME": str(folder)}
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


# What the text names, behind a substitution, a wrapper, a link or in code; and what a patch, an
# archive or a script that is read names.
HIDDEN = (
    "patch -p1 < inputs/a.txt.diff",
    "patch -p1 -i inputs/a.txt.diff",
    "patch a.txt < inputs/a.txt.diff",
    "patch a.txt inputs/a.txt.diff",
    "cd sub && patch -p1 -d .. < ../inputs/a.txt.diff",
    "git apply inputs/a.txt.diff",
    "git apply --recount - < inputs/a.txt.diff",
    "cat inputs/a.txt.diff | git apply",
    "git apply <<'EOF'\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-the holder's work\n+x\nEOF",
    "sed 's/patched/x/' inputs/a.txt.diff | patch a.txt",
    "tar xf inputs/a.txt.tar",
    "tar -x -f inputs/a.txt.tar a.txt",
    "tar xf inputs/a.txt.tar --strip-components=1 deep/a.txt",
    "cat inputs/a.txt.tar | tar x",
    "cd inputs && tar -xf a.txt.tar -C ..",
    "unzip -o inputs/a.txt.zip",
    "cd sub && unzip -qo ../inputs/a.txt.zip -d ..",
    "bash < inputs/a.txt.sh",
    "cat inputs/a.txt.sh | bash",
    "sh -s < inputs/a.txt.sh",
    "rm $'\\x61.txt'",
    "rm $'a\\x2etxt'",
    "rm $(echo a.txt)",
    "rm `echo a.txt`",
    "rm ${X:-a.txt}",
    "f=zz/a.txt; rm ${f##*/}",
    'set -- a.txt; rm "$1"',
    'A=(a.txt); rm "${A[@]}"',
    "export F=a.txt; bash -c 'rm $F'",
    "F=a.txt bash -c 'rm $F'",
    "read f <<< a.txt; rm $f",
    "read f <<EOF\na.txt\nEOF\nrm $f",
    "r''m a.txt",
    'r""m a.txt',
    "r\\m a.txt",
    "\\rm a.txt",
    "$(echo rm) a.txt",
    "X='rm a.txt'; $X",
    "C=r; ${C}m a.txt",
    'env -S "rm a.txt"',
    "env --split-string='rm a.txt'",
    'trap "rm a.txt" EXIT',
    "trap 'echo bye; rm -f a.txt' EXIT; true",
    'script -qc "rm a.txt" /dev/null',
    "flock F rm a.txt",
    "flock F -c 'rm a.txt'",
    "unshare rm a.txt",
    "strace -f rm a.txt",
    "strace -o /dev/null -f -- rm a.txt",
    "coproc rm a.txt; wait",
    "coproc X { rm a.txt; }; wait",
    "python3 -c \"import os; os.system('rm a.txt')\"",
    "python3 -c \"import os; os.remove('a'+'.txt')\" # a.txt",
    'python3 -c "import sys, os; os.remove(sys.argv[1])" a.txt',
    "python3 -c \"import subprocess as s; s.run(['rm', 'a.txt'])\"",
    "python3 -c \"from pathlib import Path as P; P('a.txt').write_text('x')\"",
    "python3 -c \"p='a.txt'; s=open(p).read(); open(p, 'w').write(s.upper())\"",
    "python3 - <<'EOF'\nimport glob, os\nfor f in glob.glob('*.txt'):\n    os.remove(f)\nEOF",
    "echo \"open('a.txt', 'w')\" | python3",
    "python3 -m zipfile -e inputs/a.txt.zip .",
    "perl -e 'open(F,\">a.txt\")'",
    'perl -e "unlink q(a.txt)"',
    "node -e \"require('fs').rmSync('a.txt')\"",
    "echo x | awk '{print > \"a.txt\"}'",
    "awk 'BEGIN { system(\"rm a.txt\") }'",
    "echo x | awk -v f=a.txt '{ print > f }'",
    'sed -n "w a.txt" c.txt',
    "sed 's/one/x/w a.txt' c.txt",
    "sed -i.bak -n 2p a.txt",
    "uniq c.txt a.txt",
    "openssl rand -out a.txt 4",
    "printf '%s\\n' 1d wq | ed -s a.txt",
    "ex -sc '1d|x' a.txt < /dev/null",
    "vim -es -c '1d|wq' a.txt < /dev/null",
    "printf 'e a.txt\\n1d\\nwq\\n' | ed -s",
    'find . -name a.txt | xargs -I% sh -c "rm %"',
    "find . -name a.txt -exec sh -c 'rm \"$1\"' _ {} \\;",
    "ls *.txt | while read f; do rm $f; done",
    'for f in *.txt; do rm "$f"; done',
    'for f in $(ls *.txt); do rm "$f"; done',
    'find . -maxdepth 1 -type f | while read -r f; do rm "$f"; done',
    'git ls-files -m | while read -r f; do git checkout -q -- "$f"; done',
    'git ls-files -m | while read -r f; do rm "$f"; done',
    'mapfile -t L < <(ls a.txt); rm "${L[@]}"',
    "while read -r f; do rm $f; done <<EOF\na.txt\nEOF",
    "ln -s a.txt l; echo x > l",
    "ln a.txt h.txt; echo x > h.txt",
    "ln -s sub l; rm l/d.txt",
    "cp -l a.txt h.txt; echo x >> h.txt",
    "gzip a.txt",
    "gzip -k c.txt; mv c.txt.gz a.txt",
    "split -l 1 b.txt a.txt; cat b.txt | split -l1 - x; tee a.txt < c.txt",
    # a text that looks as if it only read, counted or ran git
    'sort c.txt ""-o a.txt',
    "sort c.txt \\-oa.txt",
    "sort c.txt {-o,a.txt}",
    'find . -name a.txt ""-delete',
    "find . -name a.txt \\-delete",
    "find . -name a.txt {-delete,-print}",
    'git diff ""--output=a.txt HEAD',
    "git diff {--output=a.txt,HEAD}",
    "((rm a.txt) )",
    "echo $((rm a.txt) )",
    "Y=a; Y+=.txt; rm $Y",
    "sh -c -- 'rm a.txt'",
    "sh <(echo rm a.txt)",
    ". <(echo rm a.txt)",
    "git -c alias.x='!rm a.txt' x",
    "git config alias.x '!rm a.txt' && git x",
    "git difftool -y -x 'rm a.txt' HEAD",
    "zip -qm z.zip a.txt",
    "tar cf z.tar a.txt --remove-files",
    "tar c --remove-files a.txt > z.tar",
    "tar cf a.txt b.txt",
    "zip -q a.txt b.txt; tar -cf a.txt c.txt",
    "git diff --output=a.txt HEAD",
    "git archive -o a.txt HEAD",
    "git show HEAD:c.txt | dd of=a.txt status=none",
    "timeout 5 bash -c 'flock F -c \"rm a.txt\"'",
    "sh -c 'rm \"$@\"' sh a.txt",
    "sh -c 'rm $0' a.txt",
    'f() { rm "$1"; }; f a.txt',
    'del() {\n  rm -f -- "$@"\n}\ndel a.txt',
    "alias x=rm; shopt -s expand_aliases\nx a.txt",
    "cmd='rm a.txt'; eval \"$cmd\"",
    "cat > s.py <<'EOF'\nopen('a.txt', 'w')\nEOF\npython3 s.py",
    "printf 'rm a.txt' > /tmp/$$.sh; sh /tmp/$$.sh; rm /tmp/$$.sh",
    "rm ./sub/../a.txt",
    'rm "$(pwd)"/a.txt',
    "(exec > a.txt; echo hi)",
    "exec 3> a.txt",
    "cat c.txt >&a.txt",
    "nohup setsid rm a.txt",
    "git update-index --assume-unchanged a.txt && git commit -qm x -- a.txt",
    "/bin/rm a.txt",
    "command rm a.txt",
    "busybox rm a.txt || rm a.txt",
)
NOT_INSTALLED = (  # asked as all others, but nothing here could really do them
    'watch -n 9 "rm a.txt"',
    "watch rm a.txt",
    "ruff format a.py",
    "ruff check --fix a.py",
    "black a.py",
    "npx prettier --write a.py",
    "npx -y prettier -w a.py",
    "pnpm dlx prettier --write a.py",
    "pnpm exec prettier --write a.py",
    "pnpm prettier --write a.py",
    "yarn prettier --write a.py",
    "yarn dlx prettier --write a.py",
    "bunx prettier --write a.py",
    "bun x prettier --write a.py",
    "npm exec -- prettier --write a.py",
    "npx eslint --fix a.py",
    "uvx ruff format a.py",
    "uvx --from ruff==0.5 ruff format a.py",
    "uv tool run black a.py",
    "uv run ruff format a.py",
    "uv run --with black black a.py",
    "pipx run black a.py",
    "poetry run black a.py",
    "hatch run black a.py",
    "hatch run dev:black a.py",
    "python3 -m black a.py",
    "python3 -m ruff format a.py",
    "ls a.txt | parallel rm",
    "parallel rm ::: a.txt",
    "rsync c.txt a.txt",
    "ruby -e 'File.delete(\"a.txt\")'",
    "sudo -u me rm a.txt",
    "7z x inputs/a.txt.zip a.txt",
)


@pytest.mark.parametrize("command", HIDDEN)
def test_what_hides_the_file_that_it_names_is_held_back(
    shared: Project, tmp_path: Path, command: str
) -> None:
    assert harmed(shared, command, tmp_path), "it does no harm: this was a needless refusal"
    said = reason(asks(shared, command))
    assert CRANE in said
    assert "Nothing was run" in said


@pytest.mark.parametrize("command", NOT_INSTALLED)
def test_programs_that_are_not_here_are_known(shared: Project, command: str) -> None:
    assert CRANE in reason(asks(shared, command))


@pytest.mark.requirement("GRD-013")
@pytest.mark.parametrize("command", DESTRUCTIVE)
def test_what_would_destroy_held_work_is_held_back(
    shared: Project, tmp_path: Path, command: str
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


@pytest.mark.requirement("GRD-018")
@pytest.mark.parametrize("command", HARMLESS)
def test_what_does_no_harm_is_not_held_back(shared: Project, tmp_path: Path, command: str) -> None:
    assert harmed(shared, command, tmp_path) == set()
    assert asks(shared, command) == Reply()


def heads(folder: Path, env: dict[str, str]) -> tuple[str, str]:
    """The branch that HEAD names, and its commit."""
    words = (["symbolic-ref", "-q", "HEAD"], ["rev-parse", "HEAD"])
    done = [
        subprocess.run(
            ["git", *each], cwd=folder, env=env, check=False, capture_output=True, timeout=60
        )
        for each in words
    ]
    return done[0].stdout.decode(), done[1].stdout.decode()


def is_moved(project: Project, command: str, folder: Path) -> bool:
    """Do it in a copy: is HEAD on another branch, or on one that does not lead to it?"""
    copy = folder / "project"
    shutil.copytree(project.root, copy, symlinks=True, ignore=shutil.ignore_patterns(".moot"))
    env = {**project.env, **IDENTITY, "HOME": str(folder)}
    before = heads(copy, env)
    subprocess.run(
        ["bash", "-c", command], cwd=copy, env=env, check=False, capture_output=True, timeout=60
    )
    after = heads(copy, env)
    words = ["merge-base", "--is-ancestor", before[1].strip(), after[1].strip()]
    forward = subprocess.run(["git", *words], cwd=copy, env=env, check=False, timeout=60)
    return before[0] != after[0] or forward.returncode != 0


MOVES_HEAD = (
    "git switch feature",
    "git checkout feature",
    "git -C . checkout -q feature",
    "git checkout -b topic",
    "git switch -c topic",
    "git switch --create topic",
    "git switch --detach",
    "git checkout --detach",
    "git checkout --orphan fresh",
    "git symbolic-ref HEAD refs/heads/feature",
    "git symbolic-ref HEAD refs/heads/nowhere",
    "git reset --soft elsewhere",
    "git update-ref HEAD elsewhere",
    "git checkout HEAD~0",
    "git bisect start HEAD elsewhere; git checkout -q elsewhere",
    'B=feature; git switch "$B"',
    "bash -c 'git switch feature'",
    "timeout 9 git switch feature",
)
LEAVES_HEAD = (
    "git checkout main",
    "git switch main",
    "git checkout HEAD",
    "git switch nowhere",
    "git checkout nowhere",
    "git checkout c.txt",
    "git checkout -- b.txt",
    "git branch topic",
    "git commit -qm own -- b.txt",
    "git commit --amend --no-edit --allow-empty -q -- b.txt; true",
    "git merge -q feature",
    "git pull -q || true",
    "git reset -q",
    "git reset b.txt",
    "git reset --soft HEAD",
    "git stash list",
    "git worktree add -q ../beside feature",
    "git symbolic-ref HEAD",
    "git rev-parse --abbrev-ref HEAD",
    "git rebase feature; true",
    "git bisect log; true",
)


@pytest.mark.requirement("GRD-016")
@pytest.mark.parametrize("command", MOVES_HEAD)
def test_head_is_not_moved_under_another_agent_of_the_worktree(
    shared: Project, tmp_path: Path, command: str
) -> None:
    assert is_moved(shared, command, tmp_path)
    before = len(shared.events("INCURSION"))
    said = reason(asks(shared, command))
    assert f"would move HEAD under {CRANE} (active" in said
    assert "Nothing was run" in said
    assert "`git worktree add ../NAME BRANCH`" in said
    assert len(shared.events("INCURSION")) == before


@pytest.mark.parametrize("command", LEAVES_HEAD)
def test_what_leaves_head_is_not_held_back(shared: Project, tmp_path: Path, command: str) -> None:
    if "--amend" not in command:
        assert not is_moved(shared, command, tmp_path)
    assert asks(shared, command) == Reply()
