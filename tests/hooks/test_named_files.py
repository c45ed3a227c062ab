"""Files that words of a shell text name, and those that a patch, an archive or a stash names."""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from moot.api.guard import files_by_name, git_changes, input_files
from moot.api.guard.destruction import ReachedFiles
from moot.api.guard.files_by_name import _is_narrow, _may_be, _Words, find_named
from moot.api.guard.guarded_paths import GuardedPaths
from moot.api.guard.input_files import find_input_files, read_script_file
from moot.api.guard.shell.act import DestructiveAct, Input, InputKind, Reach
from moot.api.guard.shell.values import UNKNOWN, Word
from tests.project import Project


@pytest.mark.parametrize(
    ("words", "folder", "key", "named"),
    [
        ("src/a.txt", ".", "src/a.txt", "src/a.txt"),
        ("a.txt", ".", "src/a.txt", "src/a.txt"),
        ("a.txt", "src", "src/a.txt", "src/a.txt"),
        ("x/a.txt", ".", "src/a.txt", ""),
        ("../b.txt", "src", "b.txt", "b.txt"),
        ("/r/src/a.txt", "src", "src/a.txt", "src/a.txt"),
        ("/rest/src/a.txt", ".", "src/a.txt", "src/a.txt"),
        ("/elsewhere/b.txt", ".", "src/a.txt", ""),
        ("*.txt", ".", "src/a.txt", "src/a.txt"),
        ("./src/*.txt", ".", "src/a.txt", "src/a.txt"),
        ("src/*.txt/", ".", "src/a.txt", "src/a.txt"),
        ("lib/*.txt", ".", "src/a.txt", ""),
        ("*/a.tx?", ".", "src/a.txt", "src/a.txt"),
        ("src/", ".", "src/a.txt", "src/a.txt"),
        ("deep/", "src", "src/deep/a.txt", "src/deep/a.txt"),
        ("lib/", ".", "src/a.txt", ""),
        ("./", ".", "src/a.txt", "src/a.txt"),
        ("src", ".", "src/a.txt", ""),
        ("src/a.txt src/b.txt lib/c.txt", ".", "src", "src/a.txt src/b.txt"),
        ("src/a.txt", "lib", "src", "src/a.txt"),
        ("a.txt", "src", "src", "src/a.txt"),
        ("/r/src/a.txt", ".", "src", "src/a.txt"),
        ("a.tx?", ".", "src/a.txt", "src/a.txt"),
        ("a.txt", ".", "", "a.txt"),
        ("*", ".", "src/a.txt", ""),
    ],
)
def test_a_word_names_what_is_held(words: str, folder: str, key: str, named: str) -> None:
    found = _Words(frozenset(words.split()), folder, "/r").find(key)
    assert sorted(found) == named.split()


@pytest.mark.parametrize(
    ("operand", "can_be"),
    [
        (UNKNOWN, True),
        (f"src/{UNKNOWN}", True),
        (f"src{UNKNOWN}", True),
        (f"s/{UNKNOWN}", False),
        (f"lib/{UNKNOWN}", False),
        (f"/r/src/{UNKNOWN}", True),
        (f"/r/sr/{UNKNOWN}", False),
        (f"../r/src/{UNKNOWN}", True),
        (f"{UNKNOWN}/a.txt", True),
        (f"{UNKNOWN}.txt/", True),
        (f"{UNKNOWN}.md", False),
        (f"{UNKNOWN}x{UNKNOWN}.txt", True),
    ],
)
def test_an_operand_of_which_only_the_ends_are_known(operand: str, can_be: bool) -> None:
    assert _may_be(Word(operand), "/r/src/a.txt", "/r") is can_be


def test_a_pattern_says_at_least_two_letters() -> None:
    assert [_is_narrow(each) for each in ("*", "*.c", "*.py", "a?1", "[x]*")] == [
        *(False, False, True, True, False)
    ]
    words = frozenset(f"f{number:03}*" for number in range(101))
    assert [*_Words(words, ".", "/r").find("f099x")] == ["f099x"]
    assert [*_Words(words, ".", "/r").find("f100x")] == []


def reach(root: Path, named: str, folder: str | None, operand: str = UNKNOWN) -> ReachedFiles:
    words = frozenset(named.split())
    act = DestructiveAct("x", Reach.NAMED, folder, (Word(operand),), named=words)
    return ReachedFiles(act, GuardedPaths(root / ".moot", root))


def test_named_files_count_if_they_are_held_here_and_not_saved(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, other = project.root, str(project.other)
    (root / "src").mkdir()
    (root / "src" / "b.txt").write_text("b")
    held = [("a.txt", ""), ("src/b.txt", str(root)), ("c.txt", other), ("src", "")]
    (root / "c.txt").write_text("c")
    reached = reach(root, "a.txt b.txt c.txt src", str(root))
    assert find_named(reached, held) == ("src/b.txt", "src")
    (root / ".gitignore").write_text("out/\n")
    (root / "out").mkdir()
    (root / "out" / "d.txt").write_text("d")
    ignored = find_named(reach(root, "out/d.txt a.txt", str(root)), [("out", ""), ("a.txt", "")])
    assert ignored == ("out/d.txt",)
    (root / "a.txt").write_text("two\n")
    assert find_named(reached, held) == ("a.txt", "src/b.txt", "src")
    assert find_named(reach(root, "b.txt", f"{root}/src"), held) == ("src/b.txt",)
    for unknown in (None, f"{root}/{UNKNOWN}"):
        assert find_named(reach(root, "src/b.txt", unknown), held) == ("src/b.txt",)
    assert find_named(reach(root, "a.txt", str(root), f"{UNKNOWN}.md"), held) == ()
    assert find_named(reach(root, "none", str(root)), held) == ()
    assert find_named(reach(root, "./", f"{root}/src"), held) == ("src/b.txt", "src")
    assert find_named(reach(root, "./", None), held) == ("a.txt", "src/b.txt", "src")
    assert files_by_name._MOST_NAMED == 200
    monkeypatch.setattr(files_by_name, "_MOST_NAMED", 2)
    assert find_named(reached, held) == ("a.txt", "src/b.txt")


def test_all_count_where_git_does_not_answer(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    reached = reach(project.root, "a.txt", str(project.root))
    assert find_named(reached, [("a.txt", "")]) == ()
    monkeypatch.setattr(git_changes, "GIT_SECONDS", 0)
    assert find_named(reached, [("a.txt", "")]) == ("a.txt",)


PATCH = """\
Index: a/i.txt
--- a/old.txt\t2026
+++ "b/new.txt"
--- /dev/null
rename from dir/x
rename to y
copy to z
"""


def packed(kind: InputKind, source: Path, **more: object) -> list[str] | None:
    return find_input_files(Input(kind, Word(str(source)))._replace(**more), "/")  # type: ignore[arg-type]


def test_the_names_in_a_patch(tmp_path: Path) -> None:
    (tmp_path / "p").write_text(PATCH)
    moved = ["dir/x", "x", "y", "z"]
    names = packed(InputKind.PATCH, tmp_path / "p", strip=1)
    assert names == ["i.txt", "old.txt", "new.txt", *moved]
    names = packed(InputKind.PATCH, tmp_path / "none", text=PATCH, strip=0)
    assert names == ["a/i.txt", "a/old.txt", "b/new.txt", *moved]
    names = packed(InputKind.PATCH, tmp_path / "none", text="+++ a/b/c\n", strip=-1)
    assert names == ["a/b/c", "b/c", "c"]
    assert packed(InputKind.PATCH, tmp_path / "none") is None


def test_what_is_too_long_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (input_files.MOST_TEXT, input_files.MOST_SCRIPT) == (4 << 20, 64 << 10)
    bounds = input_files._MOST_PACKED, input_files._MOST_UNPACKED, input_files._MOST_NAMES
    assert bounds == (64 << 20, 256 << 20, 20_000)
    (tmp_path / "p").write_text("+++ b\n")
    for most, names in ((6, ["b"]), (5, None)):
        monkeypatch.setattr(input_files, "MOST_TEXT", most)
        monkeypatch.setattr(input_files, "MOST_SCRIPT", most)
        assert packed(InputKind.PATCH, tmp_path / "p") == names
        assert packed(InputKind.PATCH, tmp_path / "p", text="+++ b\n") == names
        script = read_script_file(Input(InputKind.SCRIPT, Word(str(tmp_path / "p"))))
        assert script == ("+++ b\n" if names else None)
    assert read_script_file(Input(InputKind.SCRIPT, Word(str(tmp_path / "none")))) is None
    monkeypatch.setattr(input_files, "MOST_TEXT", 100)
    for most, text in ((2, "+++ a\n+++ b\n"), (1, "")):
        monkeypatch.setattr(input_files, "_MOST_NAMES", most)
        names = packed(InputKind.PATCH, tmp_path, text="+++ a\n+++ b\n")
        assert names == (["a", "b"] if text else None)


def make_tar(place: Path, *names: str, size: int = 3) -> Path:
    with tarfile.open(place, "w:gz") as archive:
        folder = tarfile.TarInfo("dir")
        folder.type = tarfile.DIRTYPE
        archive.addfile(folder)
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = size
            archive.addfile(info, io.BytesIO(b"x" * size))
    return place


def test_the_names_in_an_archive(tmp_path: Path) -> None:
    tar = make_tar(tmp_path / "a.tgz", "./dir/a.txt", "b.txt")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("dir/", "dir/a.txt", "b.txt"):
            archive.writestr(name, "")
    for kind, place in ((InputKind.TAR, tar), (InputKind.ZIP, tmp_path / "a.zip")):
        assert packed(kind, place) == ["dir/a.txt", "b.txt"]
        assert packed(kind, place, strip=1) == ["a.txt"]
        for member in ("dir", "./dir/", "dir/a.txt", "*/a.*"):
            assert packed(kind, place, members=(member,)) == ["dir/a.txt"]
        assert packed(kind, place, members=("di",)) == []
    assert packed(InputKind.ZIP, tmp_path / "a") == ["dir/a.txt", "b.txt"]
    os.rename(tmp_path / "a.zip", tmp_path / "a")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("other.txt", "")
    assert packed(InputKind.ZIP, tmp_path / "a") == ["dir/a.txt", "b.txt"]
    for kind in (InputKind.TAR, InputKind.ZIP):
        (tmp_path / "broken").write_bytes(b"no archive at all")
        assert packed(kind, tmp_path / "broken") is None
        assert packed(kind, tmp_path / "none") is None


def test_of_an_archive_so_much_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tar = make_tar(tmp_path / "a.tgz", "a.txt", size=512)
    # Two headers, and the bytes of the one file.
    for most, names in ((3 * 512, ["a.txt"]), (3 * 512 - 1, None)):
        monkeypatch.setattr(input_files, "_MOST_UNPACKED", most)
        assert packed(InputKind.TAR, tar) == names
    monkeypatch.setattr(input_files, "_MOST_UNPACKED", 1 << 20)
    size = tar.stat().st_size
    for most, names in ((size + 1, ["a.txt"]), (0, None)):
        monkeypatch.setattr(input_files, "_MOST_PACKED", most)
        assert packed(InputKind.TAR, tar) == names
    monkeypatch.setattr(input_files, "_MOST_PACKED", 2)
    with open(tar, "rb") as file:
        bounded = input_files._Bounded(file)
        assert len(bounded.read(1) + bounded.read(1)) == 2
        with pytest.raises(ValueError, match="too long"):
            bounded.read(1)


def test_the_names_in_a_stash_begin_at_the_root_of_the_worktree(project: Project) -> None:
    (project.root / "src").mkdir()
    (project.root / "a.txt").write_text("two\n")
    (project.root / "src" / "new.txt").write_text("new\n")
    assert project.git("stash", "--include-untracked", "--quiet", "--", "a.txt", "src").code == 0
    stash = Input(InputKind.STASH, Word("stash@{0}"))
    assert find_input_files(stash, str(project.root)) == [
        f"{project.root}/a.txt",
        f"{project.root}/src/new.txt",
    ]
    assert find_input_files(Input(InputKind.STASH, Word("stash@{7}")), str(project.root)) == []
