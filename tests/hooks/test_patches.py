"""Patches: every file that a tool would write is named, or the patch is held back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.patches import files_in_patch, files_in_shell_patches
from tests.hooks.patch_parsers import codex_files, older_codex_moves, opencode_files
from tests.hooks.tool_calls import call, reason
from tests.project import CRANE, OTTER, Project
from tests.sampling import examples

_blanks = st.text(st.sampled_from(" \t\r\v\f\x85\xa0\u2003\u3000\ufeff\u200b"), max_size=3)
_headers = st.sampled_from(
    [
        "*** Begin Patch",
        "*** End Patch",
        "*** Add File:",
        "*** Update File:",
        "*** Delete File:",
        "*** Move to:",
        "*** End of File",
        "@@",
        "+",
        "-",
        "",
        "*** update file:",
    ]
)
_names = st.sampled_from(["", "a.txt", " a.txt", "src/b c.txt", "\ufeffa.txt", "~/x", "*** x", "é"])
_lines = st.builds(
    lambda before, header, blank, name, after: before + header + blank + name + after,
    st.just("") | _blanks,
    _headers,
    _blanks,
    _names,
    st.just("") | _blanks,
)
_patches = st.lists(_lines, max_size=12).map("\n".join) | st.lists(_lines, max_size=8).map(
    lambda lines: "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
)


@settings(max_examples=examples(600))
@given(_patches)
@example("*** Begin Patch\r\n*** Add File: a.txt\r\n+x\r\n*** End Patch")
@example("*** Begin Patch\n*** Add File:  a.txt\n+x\n*** End Patch")
@example("*** Begin Patch\n\u3000*** Add File: a.txt\xa0\n+x\n*** End Patch")
@example("*** Begin Patch\n*** Add File:\ufeffa.txt\n+x\n*** End Patch")
@example("*** Begin Patch\n*** Add File: d\n+*** End Patch\n*** Delete File: e\n*** End Patch")
def test_no_file_that_a_tool_would_take_is_missed(patch: str) -> None:
    try:
        named = files_in_patch(patch)
    except Unreadable:
        return
    wanted = {*codex_files(patch), *older_codex_moves(patch), *opencode_files(patch)} - {""}
    assert wanted <= set(named)


@pytest.mark.parametrize(
    "line",
    [
        "***  Update File :x",
        "*** update file: x",
        "*** Update File\uff1a x",
        "\uff0a\uff0a\uff0a Update File: x",
        "*** Up\u200bdate File: x",
        "** Update File: x",
        "*** Rename to: x",
        "***Delete File: x",
        "*** Move To: x",
        "*** Create: x",
    ],
)
def test_a_line_that_only_looks_like_a_header_holds_the_patch_back(line: str) -> None:
    patch = f"*** Begin Patch\n*** Add File: a.txt\n+x\n{line}\n*** End Patch"
    with pytest.raises(Unreadable, match="looks like a header") as problem:
        files_in_patch(patch)
    assert problem.value.code == "header_not_understood"


@pytest.mark.parametrize(
    "line",
    ["+*** update file: x", "-** Delete File: x", " *** a rule ***", " * delete: it", "@@ *** x"],
)
def test_content_is_no_header(line: str) -> None:
    patch = f"*** Begin Patch\n*** Update File: a.txt\n@@\n{line}\n*** End of File\n*** End Patch"
    assert files_in_patch(patch) == ("a.txt",)


PATCH = (
    "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n-cd x\n*** End Patch\nEOF"
)


@pytest.mark.parametrize(
    ("script", "folders"),
    [
        ("", ["/w"]),
        ("cd src && ", ["/w/src"]),
        ("cd -- src && ", ["/w/src"]),
        ("cd 'a b' && ", ["/w/a b"]),
        ('cd "a b" && ', ["/w/a b"]),
        ("cd src\n", ["/w/src", "/w"]),
        ("cd src; ", ["/w/src", "/w"]),
        ("cd / ; ", ["/"]),
        ("make && cd / ; ", ["/", "/w"]),
        ("cd src && cd deep && ", ["/w/src/deep"]),
        ("set -e; cd src && make && ", ["/w/src"]),
        ("cd '~/x' && ", ["/w/~/x"]),
        ("git -C other status && ", ["/w"]),
        ("./cd.sh && ls cd-rom && ", ["/w"]),
    ],
)
def test_a_cd_that_is_written_out_is_followed(script: str, folders: list[str]) -> None:
    files = files_in_shell_patches(script + PATCH, "/w")
    assert list(files) == [os.path.join(folder, "a.txt") for folder in folders]


@pytest.mark.parametrize(
    "script",
    [
        "cd $DIR && ",
        "cd ${DIR} && ",
        'cd "$DIR" && ',
        "cd - && ",
        "cd -P src && ",
        "cd $(git rev-parse --show-toplevel) && ",
        "cd `pwd` && ",
        "cd sr* && ",
        "cd a\\ b && ",
        "cd a b && ",
        "cd 'a'b && ",
        "pushd src && ",
        "popd; ",
        "chdir src && ",
        "(cd src && make); ",
        "(cd src && ",
        "{ cd src; } && ",
        "true || cd src; ",
        "ls | cd src; ",
        "if true; then cd src; fi; ",
        "bash -c 'cd src && x'; ",
        "FOO=1 cd src && ",
        "command cd src && ",
        "env -C src ",
        "env --chdir=src ",
        "eval cd src; ",
        "cd a; cd b; cd c; cd d; ",
    ],
)
def test_any_other_way_to_another_folder_holds_the_patch_back(script: str) -> None:
    with pytest.raises(Unreadable) as problem:
        files_in_shell_patches(script + PATCH, "/w")
    assert problem.value.code == "cd_not_understood"


def test_a_cd_between_two_patches_counts_for_the_second() -> None:
    files = files_in_shell_patches(f"{PATCH}\ncd / && {PATCH}", "/w")
    assert {"/w/a.txt", "/a.txt"} <= set(files)
    with pytest.raises(Unreadable):
        files_in_shell_patches(f"{PATCH}\ncd $X && {PATCH}", "/w")


@pytest.mark.parametrize(
    "command",
    [
        "apply_patch < change.patch",
        "cat p | apply_patch",
        'apply_patch "$(cat p)"',
        r"printf '*** Begin Patch\n*** Update File: a.txt\n' | apply_patch",
        "/usr/bin/applypatch p",
    ],
)
def test_a_patch_that_is_not_in_the_command_is_held_back(command: str) -> None:
    with pytest.raises(Unreadable) as problem:
        files_in_shell_patches(command, "/w")
    assert problem.value.code == "patch_not_understood"


@pytest.mark.parametrize(
    "command", ["ls", "grep -rn apply_patch src", "cat apply_patch.py", "cd $X && make"]
)
def test_a_command_that_applies_no_patch_names_no_file(command: str) -> None:
    assert files_in_shell_patches(command, "/w") == ()


def shell(project: Project, command: str, cwd: Path | None = None) -> dict[str, Any]:
    return call("codex-heredoc", cwd or project.root, tool_input={"command": command})


def test_what_is_not_understood_is_refused_with_a_way_to_write_it(project: Project) -> None:
    said = reason(project.hook("codex", shell(project, "cd $DIR && " + PATCH)))
    assert said.startswith("moot: refused, because it cannot be checked: [cd_not_understood]")
    assert "cd FOLDER && apply_patch" in said
    patch = "*** Begin Patch\n*** Update file: a.txt\n@@\n-one\n+two\n*** End Patch"
    said = reason(
        project.hook("codex", call("codex-patch", project.root, tool_input={"command": patch}))
    )
    assert "[header_not_understood]" in said
    assert project.owners() == {}


def test_an_agent_of_a_workspace_is_held_back_wherever_it_stands(
    project: Project, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command = f"cd $WHERE && {PATCH}"
    assert "[cd_not_understood]" in reason(
        project.hook("codex", shell(project, command, elsewhere))
    )
    stranger = project.hook("codex", shell(project, command, elsewhere), agent=None)
    assert (stranger.out, stranger.err) == ("", "")


def test_both_readings_of_a_header_are_held(project: Project) -> None:
    project.reserve(CRANE, "a.txt")
    patch = "*** Begin Patch\n*** Update File:\u3000a.txt\u2003\n@@\n-one\n+two\n*** End Patch"
    said = call("opencode-patch", project.root, tool_input={"patchText": patch})
    assert "a.txt is held by teal-crane" in reason(project.hook("opencode", said, agent=OTTER))
