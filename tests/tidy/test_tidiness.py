"""Style as a test: names, docstrings, broad handlers, and what must not stand in the tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.reference.pages import FOLDER as REFERENCE
from tools.reference.pages import PAGES as REFERENCE_PAGES

from tests.tidy.source import ROOT, Module, modules, text_files

VAGUE = {"util", "utils", "helper", "helpers", "manager", "service", "common", "misc", "stuff"}
# Broad handlers that do not raise again: the outermost function of a surface, and a thread's loop.
OUTERMOST = {
    *("surfaces.cli.main", "surfaces.hooks.entry", "surfaces.mcp.calls"),
    "runner.requests",
    "hosts.request_handler",
    "hosts.listener",  # of the one thread that serves all lines
}
OUTERMOST |= {"surfaces.web.app", "surfaces.mcp.conversation"}
RESERVED_HOSTS = re.compile(
    r"(127\.0\.0\.1|localhost|([\w-]+\.)*example(\.com|\.org|\.net)?)\b", re.IGNORECASE
)
URL = re.compile(r"https?://([\w.-]+)")
# Comments that other programs write into files, which our tests imitate.
FOREIGN_HOSTS = {"pre-commit.com"}
FOREIGN_HOSTS |= {"opentelemetry.io"}  # the name of a schema, which nothing fetches


def test_every_module_says_what_it_is() -> None:
    silent = [module for module in modules() if not ast.get_docstring(module.tree)]
    assert silent == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    vague = [m for m in modules() if set(m.path.stem.split("_")) & VAGUE]
    assert vague == []
    folders = {part for m in modules() for part in m.path.relative_to(ROOT).parts[:-1]}
    assert folders & VAGUE == set()


def broad_handlers(module: Module) -> Iterator[ast.ExceptHandler]:
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler):
            caught = node.type.elts if isinstance(node.type, ast.Tuple) else [node.type]
            names = {getattr(kind, "id", None) for kind in caught}
            if node.type is None or names & {"Exception", "BaseException"}:
                yield node


def test_only_the_outermost_function_catches_broadly_and_keeps_it() -> None:
    """Elsewhere a broad handler may clean up, and must raise again."""
    swallowed = [
        f"{module}:{handler.lineno}"
        for module in modules()
        if module.name not in OUTERMOST
        for handler in broad_handlers(module)
        if not any(isinstance(node, ast.Raise) for node in ast.walk(handler))
    ]
    assert swallowed == []


def test_the_exceptions_to_that_are_still_needed() -> None:
    broad = {module.name for module in modules() if any(broad_handlers(module))}
    assert broad >= OUTERMOST


def test_core_has_one_tree_of_errors() -> None:
    """Everything raised outside surfaces is one of the tree's, or a programmer's error."""
    allowed = re.compile(
        r"(Malformed|Refused|Conflict|NotFound|Unavailable|Tampered|StoreFailed)\Z"
    )
    programmers = {"NotImplementedError", "AssertionError", "TypeError", "KeyError", "ValueError"}
    odd = [
        f"{module}:{node.lineno} raises {name}"
        for module in modules()
        if module.top in ("core", "engine", "store") or module.protocol == "example"
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        for name in [getattr(node.exc.func, "id", "")]
        if name[:1].isupper() and not allowed.match(name) and name not in programmers
    ]
    assert odd == []


def lines(path: Path) -> list[tuple[int, str]]:
    return list(enumerate(path.read_text("utf-8", "replace").splitlines(), start=1))


def is_foreign(host: str) -> bool:
    return not RESERVED_HOSTS.fullmatch(host) and host not in FOREIGN_HOSTS


def test_nothing_in_the_tree_points_to_the_network() -> None:
    """No address of a site, a registry of packages or a mirror; reserved names are for tests."""
    pointing = [
        f"{path.relative_to(ROOT)}:{number} {match[0]}"
        for path in text_files()
        if path.name != "LICENSE"
        for number, line in lines(path)
        for match in URL.finditer(line)
        if is_foreign(match[1])
    ]
    assert pointing == []


def test_nothing_in_the_tree_names_a_place_on_someones_machine() -> None:
    places = [str(ROOT) + "/", str(Path.home()) + "/", "/" + "root/", "/" + "work/"]
    named = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in text_files()
        for number, line in lines(path)
        if any(place in line for place in places)
    ]
    assert named == []


def test_no_test_waits_for_a_program_without_a_limit() -> None:
    unlimited = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in text_files()
        if path.suffix == ".py" and path.is_relative_to(ROOT / "tests")
        for number, line in lines(path)
        if "communicate" + "()" in line
    ]
    assert unlimited == []


def test_no_lock_file_that_remembers_downloads_is_kept() -> None:
    locks = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock"}
    assert [path for path in text_files() if path.name in locks] == []
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    assert "--index-url" not in constraints
    assert "@ " not in constraints


@pytest.mark.parametrize("word", ["TODO", "FIXME", "XXX", "HACK"])
def test_nothing_is_left_for_later_in_a_comment(word: str) -> None:
    pattern = re.compile(rf"#.*\b{word}\b")
    left = [
        f"{module}:{number}"
        for module in modules()
        for number, line in enumerate(module.text.splitlines(), start=1)
        if pattern.search(line)
    ]
    assert left == []


def test_tests_skip_nothing_silently_and_never_sleep() -> None:
    """A gap is a row with a reason in tests/requirements; waiting is for events, not for time."""
    banned = re.compile(r"time\.sleep\(|mark\.skip\b|mark\.xfail\b")
    found = [
        f"{path.relative_to(ROOT)}:{number} {line.strip()}"
        for path in text_files()
        if path.suffix == ".py" and "tests" in path.parts and path != Path(__file__)
        for number, line in lines(path)
        if banned.search(line)
    ]
    assert found == []


PYTHON_FILE = re.compile(r"(?<![\w*{}<>./-])(?:[\w.-]+/)*[\w-]+\.py\b(?![\w/]|\.\w)")
PAGE = re.compile(r"(?<![\w*{}<>./-])docs/[\w/-]+\.md\b|\b[A-Z]{4,}\.md\b")
# Names of files in examples, and of files that belong to other programs.
EXAMPLES = {"src/a.py", "Src/A.py", "src/web/page.py", "src/auth/cache.py", "docs/guide.md"}
EXAMPLES |= {"new.py", "New.py", "cache.py", "api/NAME.py", "AGENTS.md", "GEMINI.md", "FILE.md"}
EXAMPLES |= {
    "path/to/moot/tools/check_records.py",
    ".../thin.py",
    "docs/decisions/0001-sessions.md",
    "docs/protocols/operative-protocol-v1.md",
}


# Their texts are docstrings, which are looked at where they stand.
GENERATED = {REFERENCE / name for name in REFERENCE_PAGES}


def words_about_code(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a page outside blocks of code, of a module its docstrings and comments."""
    text = path.read_text("utf-8")
    if not (PYTHON_FILE.search(text) or PAGE.search(text)):
        return
    if path.suffix == ".md":
        parts = re.split(r"^(?:```|~~~).*$", text, flags=re.MULTILINE)
        outside = (part if index % 2 == 0 else "" for index, part in enumerate(parts))
        yield from ((0, line) for part in outside for line in part.splitlines())
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = (ast.get_docstring(node) or "").partition("Examples:")[0]
            yield from ((node.body[0].lineno, line) for line in docstring.splitlines())
    for number, line in lines(path):
        yield number, "".join(re.findall(r"(?:^|\s)# .*", line))


def test_every_file_that_a_docstring_a_comment_or_a_page_names_is_there() -> None:
    """In code a bare name is a file in the same folder or in one above it; others have a folder."""
    known = {path.relative_to(ROOT).as_posix() for path in text_files()}
    ends = {name[match.end() :] for name in known for match in re.finditer("^|/", name)}
    gone = [
        f"{path.relative_to(ROOT)}:{number} {name}"
        for path in text_files()
        if path.suffix in (".py", ".md") and path not in GENERATED
        for number, line in words_about_code(path)
        for name in (*PYTHON_FILE.findall(line), *PAGE.findall(line))
        if name not in EXAMPLES and not any((above / name).exists() for above in path.parents)
        if name not in ends or (path.suffix == ".py" and "/" not in name)
    ]
    assert gone == []


def blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """The lists of statements of a function, not of functions inside it."""
    for _, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        if children and isinstance(children[0], ast.stmt):
            yield children
        for child in children:
            is_inner = isinstance(child, ast.FunctionDef | ast.Lambda | ast.ClassDef)
            if isinstance(child, ast.AST) and not is_inner:
                yield from blocks(child)


def asserts(statement: ast.stmt) -> bool:
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Attribute) and node.attr == "raises")
        for node in ast.walk(statement)
    )


def early_returns(tree: ast.AST) -> Iterator[ast.Return]:
    """Returns of tests with no assertion before them in their block. A property test may return:
    another of its examples goes on."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        if any("given" in ast.dump(decorator) for decorator in node.decorator_list):
            continue
        for block in blocks(node):
            for place, statement in enumerate(block):
                if isinstance(statement, ast.Return) and not any(map(asserts, block[:place])):
                    yield statement


def test_no_test_returns_before_it_has_asserted_something() -> None:
    found = [
        f"{file.relative_to(ROOT)}:{early.lineno}"
        for file in sorted((ROOT / "tests").rglob("test_*.py"))
        for early in early_returns(ast.parse(file.read_text("utf-8")))
    ]
    assert found == [], "parametrise such a case away: it counts as passed"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("if x:\n  return\n assert y", 1),
        ("try:\n  f()\n except E:\n  return\n assert y", 1),
        ("if x:\n  assert y\n  return\n assert z", 0),
        ("if x:\n  with pytest.raises(E):\n   f()\n  return\n assert z", 0),
        ("def inner() -> int:\n  return 1\n assert inner()", 0),
    ],
)
def test_an_early_return_is_found(body: str, count: int) -> None:
    text = f"def test_it() -> None:\n {body}\n"
    assert len(list(early_returns(ast.parse(text)))) == count
    assert list(early_returns(ast.parse(f"@given(y)\n{text}"))) == []
