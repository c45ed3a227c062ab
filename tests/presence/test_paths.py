"""Scopes: one pipeline, three classes, Windows rules on any host."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.core.errors import Malformed
from moot.protocols.presence.model import Kind
from moot.protocols.presence.paths import (
    Scope,
    classify_overlap,
    compare_scopes,
    fold_case,
    has_windows_root,
    is_inside,
    read_path,
    read_scope,
    resolve_path,
    warn_of_symlink,
)

from .scene import OTHER_WORKTREE, ROOT, WINDOWS_ROOT

SEED_EXAMPLES = [
    pytest.param(
        "src/*", "src/lib/parser.ts", Kind.PARTIAL, marks=pytest.mark.requirement("OPR-044")
    ),
    pytest.param(
        "src/lib", "src/lib/parser.ts", Kind.PARTIAL, marks=pytest.mark.requirement("OPR-045")
    ),
    pytest.param(
        "src/lib/parser.ts",
        "src/lib/parser.ts",
        Kind.EXACT,
        marks=[pytest.mark.requirement("OPR-046"), pytest.mark.requirement("OPR-039")],
    ),
    pytest.param(
        "src/lib", "src/components", Kind.DISJOINT, marks=pytest.mark.requirement("OPR-047")
    ),
]


@pytest.mark.parametrize(("a", "b", "kind"), SEED_EXAMPLES)
@pytest.mark.parametrize("root", [ROOT, WINDOWS_ROOT])
def test_the_documents_own_examples_hold_in_both_orders(
    a: str, b: str, kind: Kind, root: str
) -> None:
    assert compare_scopes(a, b, root).kind is kind
    assert compare_scopes(b, a, root).kind is kind


MORE_EXAMPLES = [
    pytest.param(
        "src", "src/a", Kind.PARTIAL, id="a parent", marks=pytest.mark.requirement("OPR-040")
    ),
    pytest.param(
        "src/lib",
        "src/library",
        Kind.DISJOINT,
        id="whole segments",
        marks=pytest.mark.requirement("OPR-041"),
    ),
    pytest.param(
        "src/*",
        "src/a/b.ts",
        Kind.PARTIAL,
        id="any depth",
        marks=pytest.mark.requirement("OPR-042"),
    ),
    pytest.param("src/*", "src", Kind.EXACT, id="a wildcard is its folder"),
    pytest.param(
        "src/*", "src/", Kind.EXACT, id="a slash more", marks=pytest.mark.requirement("OPR-038")
    ),
    pytest.param("*", ".", Kind.EXACT, id="a star alone is the root"),
    pytest.param("*", "src/a", Kind.PARTIAL, id="the root holds all"),
    pytest.param(
        "src/../src/lib", "src/lib", Kind.EXACT, id="dots", marks=pytest.mark.requirement("OPR-035")
    ),
    pytest.param("./src//lib", "src/lib", Kind.EXACT, id="double slashes"),
    pytest.param(f"{ROOT}/src", "src", Kind.EXACT, id="an absolute path inside"),
    pytest.param(
        "/SRC", "/src", Kind.DISJOINT, id="case counts", marks=pytest.mark.requirement("OPR-037")
    ),
    pytest.param("src\\lib", "src/lib", Kind.DISJOINT, id="a backslash is a letter here"),
    pytest.param("app/[id]/page.tsx", "app/[id]", Kind.PARTIAL, id="brackets are letters"),
    pytest.param(
        "/", "/", Kind.EXACT, id="the root of all", marks=pytest.mark.requirement("OPR-038")
    ),
    pytest.param("/", "/src", Kind.PARTIAL, id="below the root of all"),
    pytest.param("//src", "/src", Kind.EXACT, id="two slashes in front"),
]


@pytest.mark.parametrize(("a", "b", "kind"), MORE_EXAMPLES)
def test_scopes_under_posix_rules(a: str, b: str, kind: Kind) -> None:
    assert compare_scopes(a, b, ROOT).kind is kind
    assert compare_scopes(b, a, ROOT).kind is kind


WINDOWS_EXAMPLES = [
    pytest.param("src\\lib", "src/lib", Kind.EXACT, marks=pytest.mark.requirement("OPR-036")),
    pytest.param("C:/SRC", "c:/src", Kind.EXACT, marks=pytest.mark.requirement("OPR-037")),
    pytest.param("C:/", "C:\\", Kind.EXACT, marks=pytest.mark.requirement("OPR-038")),
    pytest.param("C:/*", "C:/", Kind.EXACT),
    pytest.param("C:/", "C:/src", Kind.PARTIAL),
    pytest.param("src\\*", "SRC/lib/parser.ts", Kind.PARTIAL),
    pytest.param("\\src", "C:/src", Kind.EXACT),
    pytest.param("D:/src", "C:/src", Kind.DISJOINT),
    pytest.param("src\\..\\docs", "docs", Kind.EXACT),
]


@pytest.mark.parametrize(("a", "b", "kind"), WINDOWS_EXAMPLES)
def test_scopes_under_windows_rules_on_any_host(a: str, b: str, kind: Kind) -> None:
    assert compare_scopes(a, b, WINDOWS_ROOT).kind is kind
    assert compare_scopes(b, a, WINDOWS_ROOT).kind is kind


@pytest.mark.requirement("OPR-036")
@pytest.mark.parametrize("path", ["src\\lib", "src/lib", ".\\src/lib", "C:\\repo\\src\\lib"])
def test_under_windows_rules_every_separator_becomes_a_slash(path: str) -> None:
    assert resolve_path(path, "C:\\repo") == "C:/repo/src/lib"
    assert read_scope(path, "C:\\repo") == Scope("src/lib", "src/lib")


@pytest.mark.requirement("OPR-038")
@pytest.mark.parametrize(
    ("path", "root", "resolved"),
    [
        ("src/", ROOT, f"{ROOT}/src"),
        ("src//", ROOT, f"{ROOT}/src"),
        ("", f"{ROOT}/", ROOT),
        ("/", ROOT, "/"),
        ("src\\", "C:/repo", "C:/repo/src"),
        ("src/", "C:/repo", "C:/repo/src"),
        ("C:\\", "C:/repo", "C:/"),
    ],
)
def test_a_trailing_slash_is_dropped_except_at_a_root(path: str, root: str, resolved: str) -> None:
    assert resolve_path(path, root) == resolved


@pytest.mark.parametrize(
    ("root", "windows"),
    [
        ("C:/repo", True),
        ("c:\\repo", True),
        ("\\\\server\\share\\repo", True),
        ("/home/user/repo", False),
        ("//server/share", False),
    ],
)
def test_the_root_decides_which_rules_hold(root: str, windows: bool) -> None:
    assert has_windows_root(root) is windows


def test_a_share_on_a_server_is_a_root() -> None:
    root = "\\\\server\\share\\repo"
    assert resolve_path("src", root) == "//server/share/repo/src"
    assert read_scope("SRC\\*", root).key == "src"


@pytest.mark.requirement("OPR-034")
def test_reading_a_scope_gives_the_same_key_as_comparing_it() -> None:
    a, b = read_scope("src/*", ROOT), read_scope("src/lib/parser.ts", ROOT)
    assert classify_overlap(a.key, b.key) is compare_scopes("src/*", "src/lib/parser.ts", ROOT).kind


def test_what_is_shown_keeps_its_case_and_its_wildcard() -> None:
    scope = read_scope("Src\\Components\\*", WINDOWS_ROOT)
    assert (scope.key, scope.shown) == ("src/components", "Src/Components/*")
    assert read_scope(".", ROOT).shown == "."
    assert read_scope("*", ROOT).shown == "*"


def test_two_worktrees_speak_of_the_same_file() -> None:
    here = read_scope(f"{ROOT}/src/auth.py", ROOT)
    there = read_scope("src/auth.py", OTHER_WORKTREE)
    assert here.key == there.key


def test_lower_case_that_is_longer_than_its_text_does_not_cut_the_path() -> None:
    scope = read_scope("src/Ünï.ts", "C:/İstanbul/repo")
    assert (scope.key, scope.shown) == ("src/ünï.ts", "src/Ünï.ts")


@pytest.mark.requirement("OPR-043")
@pytest.mark.parametrize(
    "scope",
    ["src/**/x.ts", "*.ts", "a?b", "src/lib*", "src/li*", "src/**", "src/*/*", "**", "src/*/"],
)
def test_other_globs_are_refused(scope: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_scope(scope, ROOT)
    assert refused.value.code == "unsupported_glob"
    assert refused.value.hint


@pytest.mark.parametrize(
    ("scope", "code"),
    [
        ("", "scope_empty"),
        ("   ", "scope_empty"),
        ("..", "scope_outside"),
        ("src/../../elsewhere", "scope_outside"),
        ("/etc/passwd", "scope_outside"),
        (f"{ROOT}-two/src", "scope_outside"),
        ("/*", "scope_outside"),
        ("src/\0a", "bad_scope"),
        ("src/a\nb", "bad_scope"),
        ("a" * 1_025, "bad_scope"),
    ],
)
def test_what_is_no_scope_of_this_project_is_refused(scope: str, code: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_scope(scope, ROOT)
    assert refused.value.code == code


@pytest.mark.parametrize("scope", ["D:\\repo", "D:src", "C:\\Users\\Zenchant\\codex", "..\\x"])
def test_windows_paths_outside_are_refused(scope: str) -> None:
    with pytest.raises(Malformed, match="outside"):
        read_scope(scope, WINDOWS_ROOT)


@pytest.mark.parametrize("root", ["", "repo", "./repo", "C:repo"])
def test_a_root_that_is_not_absolute_is_refused(root: str) -> None:
    with pytest.raises(Malformed) as refused:
        read_scope("src", root)
    assert refused.value.code == "bad_root"


def test_a_real_file_may_have_a_star_in_its_name() -> None:
    assert read_path("src/a*b?.txt", ROOT).key == "src/a*b?.txt"


def test_links_are_not_followed_but_remarked_on() -> None:
    assert warn_of_symlink("src", f"{ROOT}/src", ROOT) is None
    remark = warn_of_symlink("src/link", "/elsewhere/real", ROOT)
    assert remark is not None
    assert (remark.rule, remark.code, remark.severity) == ("B-12", "symlink", "warning")


# `.` and `..` among them, so that paths meet and leave the root.
_segments = st.sampled_from(["src", "SRC", "lib", "a", "a.ts", ".", "..", "l-b", "lib0"])
_paths = st.lists(_segments, min_size=1, max_size=6).map("/".join)
_roots = st.sampled_from([ROOT, WINDOWS_ROOT, "/", "C:/"])


@pytest.mark.requirement("OPR-048")
@given(_paths, _paths, _roots)
def test_classification_is_symmetric_and_total(a: str, b: str, root: str) -> None:
    assert compare_scopes(a, b, root).kind is compare_scopes(b, a, root).kind
    assert compare_scopes(a, a, root).kind is Kind.EXACT


@given(_paths, _paths, _roots)
def test_partial_means_that_one_truly_holds_the_other(a: str, b: str, root: str) -> None:
    found = compare_scopes(a, b, root)
    x, y = fold_case(found.a, root), fold_case(found.b, root)
    assert (found.kind is Kind.PARTIAL) == (is_inside(x, y) != is_inside(y, x))


@given(_paths, _roots)
def test_the_pipeline_changes_nothing_the_second_time(path: str, root: str) -> None:
    once = resolve_path(path, root)
    assert resolve_path(once, root) == once


CODES = {"scope_empty", "scope_outside", "unsupported_glob", "bad_scope", "bad_root"}


@given(st.text(max_size=40), st.text(max_size=20) | _roots)
def test_reading_any_text_gives_a_scope_or_a_code(text: str, root: str) -> None:
    for read in (read_scope, read_path):
        with contextlib.suppress(Malformed):
            assert not read(text, root).key.startswith("/")
            continue
        with pytest.raises(Malformed) as refused:
            read(text, root)
        assert refused.value.code in CODES
