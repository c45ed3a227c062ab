"""Core, lines and protocols are pure: time, chance and the outside world arrive as arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.tidy.source import Module, modules

# What a pure module has no use for, and the few that may.
IMPURE_MODULES = {
    "asyncio",
    "concurrent",
    "getpass",
    "glob",
    "http",
    "io",
    "logging",
    "multiprocessing",
    "os",
    "platform",
    "queue",
    "random",
    "secrets",
    "select",
    "shutil",
    "signal",
    "socket",
    "sqlite3",
    "subprocess",
    "sys",
    "tempfile",
    "threading",
    "time",
    "urllib",
    "uuid",
}
EXCEPTIONS = {
    ("core.clock", "time"): "the clock a process hands to its engine",
    ("core.sha256", "sys"): "which library hashes is nothing that anybody could see",
}
IMPURE_CALLS = {"open", "input", "print", "exec", "eval", "breakpoint", "__import__"}
IMPURE_METHODS = {
    *("now", "utcnow", "today", "time_ns", "monotonic", "perf_counter", "sleep"),
    *("read_text", "read_bytes", "write_text", "write_bytes", "unlink", "mkdir", "iterdir"),
    *("getenv", "urandom", "token_hex", "token_bytes"),
}
METHOD_EXCEPTIONS = {("core.clock", "time_ns")}


def pure() -> list[Module]:
    return [module for module in modules() if module.top in ("core", "pages", "lines", "protocols")]


def calls(module: Module) -> Iterator[tuple[str, bool, int]]:
    """Names that are called, whether as a method, and where."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name):
                yield node.func.id, False, node.lineno
            elif isinstance(node.func, ast.Attribute):
                yield node.func.attr, True, node.lineno


def test_pure_modules_import_nothing_that_reaches_outside() -> None:
    reached = [
        f"{module}:{line} imports {name}"
        for module in pure()
        for name, line in module.foreign_imports()
        for top in [name.split(".")[0]]
        if top in IMPURE_MODULES and (module.name, top) not in EXCEPTIONS
    ]
    assert reached == []


def test_pure_modules_ask_for_neither_the_time_nor_a_file() -> None:
    asked = [
        f"{module}:{line} calls {name}"
        for module in pure()
        for name, is_method, line in calls(module)
        if name in (IMPURE_METHODS if is_method else IMPURE_CALLS)
        and (module.name, name) not in METHOD_EXCEPTIONS
    ]
    assert asked == []


def test_paths_in_the_core_are_only_named() -> None:
    """`Path` may stand in a signature of the store's interface; nobody makes one."""
    made = [
        f"{module}:{line}"
        for module in pure()
        for name, is_method, line in calls(module)
        if name in ("Path", "PosixPath", "cwd", "home") and not (is_method and name == "Path")
    ]
    assert made == []


def test_the_exceptions_are_still_needed() -> None:
    used = {(module.name, name.split(".")[0]) for module in pure() for name, _ in module.imports()}
    assert set(EXCEPTIONS) <= used


def test_no_state_is_kept_in_a_protocols_module() -> None:
    """`global` in a protocol would be a second source of truth."""
    kept = [
        f"{module}:{node.lineno}"
        for module in modules()
        if module.protocol
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global | ast.Nonlocal)
    ]
    assert kept == []
