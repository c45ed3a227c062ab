"""What is typed on a command line, and the scope that it means: read from where one stands.

The table is the meaning; the properties hold for every text and every folder.
"""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.presence import paths
from moot.protocols.presence.model import is_resource

ROOT = "/home/me/shop"
NFC, NFD = "caf\u00e9", "cafe\u0301"

TABLE = [  # the folder below the root, what is typed there, the scope that is meant
    ("", "src/x", "src/x"),
    ("src", "x", "src/x"),
    ("src", "./x", "src/x"),
    ("src", "x/", "src/x"),
    ("src", "../x", "x"),
    ("src", "..", "."),
    ("src/web", "../api/x", "src/api/x"),
    ("src", "../src/../src/x", "src/x"),
    ("src", "src/x", "src/src/x"),
    # All of a folder
    ("", "*", "*"),
    ("src", "*", "src/*"),
    ("src", "./*", "src/*"),
    ("src", "lib/*", "src/lib/*"),
    ("src", "../*", "*"),
    ("src", ":/*", "*"),
    ("", ".", "."),
    ("src", ".", "src"),
    # From the root
    ("src", ":/", "."),
    ("src", ":/.", "."),
    ("src", ":/x", "x"),
    ("src/web", ":/src/x", "src/x"),
    ("src", ":/src/lib/*", "src/lib/*"),
    ("src", "://x", "x"),
    ("", ":/x", "x"),
    # Named resources are the same everywhere; a file that is named like one is not
    ("", "port:3000", "port:3000"),
    ("src", "port:3000", "port:3000"),
    ("src", "Task:T-9", "Task:T-9"),
    ("", "./port:3000", "./port:3000"),
    ("src", "./port:3000", "src/port:3000"),
    ("src", "../port:3000", "./port:3000"),
    ("src", ":/port:3000", "./port:3000"),
    ("port:3000", "x", "./port:3000/x"),
    # Absolute, inside and outside
    ("src", f"{ROOT}/lib/x", "lib/x"),
    ("src", ROOT, "."),
    ("src", f"{ROOT}/src/*", "src/*"),
    ("", "../x", "/home/me/x"),
    ("src", "../../x", "/home/me/x"),
    ("src", "/etc/passwd", "/etc/passwd"),
    ("src", f"{ROOT}-2/x", f"{ROOT}-2/x"),
    ("src", ":/../x", "/home/me/x"),
    # Letters
    ("src", "C:/x", "src/C:/x"),
    ("src", r"lib\x", r"src/lib\x"),
    ("src", "[id]/{a}", "src/[id]/{a}"),
    ("src", "a b", "src/a b"),
    ("src", "./:x", "src/:x"),
    ("src", ":x", "src/:x"),
    ("src", "-x", "src/-x"),
    (NFC, NFC, f"{NFC}/{NFC}"),
    (NFD, NFC, f"{NFD}/{NFC}"),
    # Nothing is nothing: it does not become the folder
    ("src", "", ""),
    ("src", " ", " "),
]


def folder_at(below: str) -> str:
    return posixpath.join(ROOT, below) if below else ROOT


@pytest.mark.parametrize(("below", "text", "scope"), TABLE)
def test_what_is_typed_means(below: str, text: str, scope: str) -> None:
    assert paths.read_typed(text, folder_at(below), ROOT) == scope


@pytest.mark.parametrize("text", [":", ":(glob)src/**", ":!src", ":^src", ":(top)x"])
def test_other_signs_of_git_are_refused_and_not_taken_for_names(text: str) -> None:
    with pytest.raises(Malformed) as problem:
        paths.read_typed(text, ROOT, ROOT)
    assert problem.value.code == "bad_scope"
    assert ":/x" in problem.value.hint
    assert paths.read_typed(f"./{text}", ROOT, ROOT).endswith(text)


@pytest.mark.parametrize("root", ["C:/shop", r"C:\shop"])
def test_under_windows_rules_both_separators_and_drives_are_read(root: str) -> None:
    folder = f"{root}/src"
    assert paths.read_typed(r"lib\x", folder, root) == "src/lib/x"
    assert paths.read_typed(":/lib/x", folder, root) == "lib/x"
    assert paths.read_typed("c:/SHOP/x", folder, root) == "x"
    assert paths.read_typed("D:/x", folder, root) == "D:/x"
    assert paths.read_typed("*", folder, root) == "src/*"


PARTS = st.text(
    st.characters(blacklist_characters="/\\*?\x00", blacklist_categories=["Cc", "Cs"]),
    min_size=1,
    max_size=6,
).filter(lambda part: part.strip() and part not in (".", ".."))
NAMES = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
FOLDERS = st.lists(PARTS, max_size=3).map("/".join)


def scopes_of(name: str) -> str:
    """A name as it is recorded."""
    return paths.read_path(f"./{name}", ROOT).shown


@given(NAMES, FOLDERS, FOLDERS)
def test_marked_from_the_root_it_means_the_same_everywhere(name: str, a: str, b: str) -> None:
    there, here = (paths.read_typed(f":/{name}", folder_at(below), ROOT) for below in (a, b))
    assert there == here == scopes_of(name)


@given(NAMES, FOLDERS)
def test_from_below_it_is_what_the_whole_name_is_from_the_root(name: str, below: str) -> None:
    whole = posixpath.join(below, name) if below else name
    assert paths.read_typed(f"./{name}", folder_at(below), ROOT) == scopes_of(whole)
    up = "../" * len(below.split("/")) if below else "./"
    assert paths.read_typed(f"{up}{name}", folder_at(below), ROOT) == scopes_of(name)


@given(NAMES | st.sampled_from([".", "*", "src/*", "port:3000", "./port:3000/x"]), FOLDERS)
def test_what_a_hint_writes_is_read_as_the_scope_it_speaks_of(name: str, below: str) -> None:
    is_plain = name in (".", "*") or name.endswith("/*") or is_resource(name)
    scope = name if is_plain else scopes_of(name)
    assert paths.read_typed(paths.write_typed(scope), folder_at(below), ROOT) == scope


@given(st.text(max_size=30), FOLDERS)
def test_whatever_is_typed_is_a_scope_or_refused_and_never_another_folder(
    text: str, below: str
) -> None:
    folder = folder_at(below)
    if text == ":" or text[:2] in (":(", ":!", ":^"):
        with pytest.raises(Malformed):
            paths.read_typed(text, folder, ROOT)
        return
    scope = paths.read_typed(text, folder, ROOT)
    if is_resource(text) or not text.strip():
        assert scope == text
        return
    base, path = (ROOT, text[2:].lstrip("/")) if text.startswith(":/") else (folder, text)
    meant = posixpath.normpath(posixpath.join(base, path))
    assert posixpath.normpath(posixpath.join(ROOT, scope)).lstrip("/") == meant.lstrip("/")
