"""Print figures about the tree: its size, its small files, its imports, and how far a call goes.

    python -m tests.tidy.figures [JUNIT.xml]

They are for looking at, not limits. With the report of a test run (`pytest --junit-xml=FILE`) they
end with the seconds of each test folder.
"""

from __future__ import annotations

import ast
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

from tests.tidy.source import PACKAGE, Module, modules

SMALL = 60  # lines
SECONDS = 120
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
# Runs `moot` with the given words; prints its functions that were called, and its loaded modules.
TRACED = """
import inspect, json, os, sys, threading
called = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_flags & inspect.CO_OPTIMIZED:
        called.add((code.co_filename, code.co_qualname))
def report(status=0):
    sys.setprofile(None)
    print(json.dumps([sorted(called), sorted(sys.modules)]), file=sys.__stderr__, flush=True)
    leave(status)
leave, os._exit = os._exit, report
threading.setprofile(note)
sys.setprofile(note)
try:
    from moot.surfaces.cli.entry import main
    main()
except SystemExit as end:
    report(end.code if isinstance(end.code, int) else 1)
"""
CALLS = {
    "reserve": ("--as", "amber-otter", "reserve", "src/auth"),
    "a denied hook": ("hook", "claude"),
    "mail send": ("--as", "amber-otter", "send", "teal-crane", "INFO: The cache is gone"),
    "ask": ("ask", "Ship it?", "--with", "rules:approve,rules:sceptic,rules:majority"),
}


def describe_size() -> Iterator[str]:
    lengths = [module.text.count("\n") for module in modules()]
    median = statistics.median(lengths)
    yield f"{sum(lengths):7,} lines in {len(lengths)} files, median {median:.0f}"
    small = [m for m in modules() if m.path.stem != "__init__" and m.text.count("\n") < SMALL]
    yield f"{len(small):7,} files under {SMALL} lines, `__init__.py` left out"
    importers = Counter(
        name for module in modules() for name in {name for name, _ in module.own_imports()}
    )
    alone = [module for module in modules() if importers[module.name] == 1]
    yield f"{len(alone):7,} modules with one importer"
    packages = Counter[str]()
    for module, length in zip(modules(), lengths, strict=True):
        packages[module.top or "moot"] += length
    yield "lines by package: " + ", ".join(f"{name} {n:,}" for name, n in packages.most_common())


def count_late_imports(module: Module) -> int:
    """Count import statements inside functions."""
    found = {
        node
        for function in ast.walk(module.tree)
        if isinstance(function, FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return len(found)


def describe_late_imports(on_hook_path: set[str]) -> Iterator[str]:
    on, off = 0, 0
    for module in modules():
        count = count_late_imports(module)
        on, off = (on + count, off) if f"moot.{module.name}" in on_hook_path else (on, off + count)
    yield f"{on:7,} imports inside functions of modules that a hook loads, {off:,} in others"


class Project:
    """A scratch repository with two agents, one of whom holds `src/auth`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "project"
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = {**kept, "HOME": str(folder), "PYTHONPATH": str(PACKAGE.parent)}
        (self.folder / "src" / "auth").mkdir(parents=True)
        self._run("git", "init", "-q")
        self.trace("init")
        for name in ("amber-otter", "teal-crane"):
            self.trace("agent", "register", name)

    def _run(self, *words: str, said: str = "", **more: str) -> str:
        environment = {**self.environment, **more}
        done = subprocess.run(
            words, input=said, capture_output=True, text=True, cwd=self.folder, env=environment,
            timeout=SECONDS, check=True,
        )  # fmt: skip
        return done.stderr

    def trace(self, *words: str, said: str = "", **more: str) -> tuple[list[list[str]], set[str]]:
        """Run a command; return the functions of Moot that it called, and the loaded modules."""
        printed = self._run(sys.executable, "-c", TRACED, *words, said=said, **more)
        called, loaded = json.loads(printed.splitlines()[-1])
        return [entry for entry in called if entry[0].startswith(str(PACKAGE))], set(loaded)

    def ask_hook(self, event: str, tool: str, **given: str) -> tuple[list[list[str]], set[str]]:
        told = {"hook_event_name": event, "session_id": "1", "cwd": str(self.folder)}
        said = json.dumps({**told, "tool_name": tool, "tool_input": given})
        return self.trace("hook", "claude", said=said, MOOT_AGENT="teal-crane")


def describe_calls() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder))
        loaded: set[str] = set()
        for name, words in CALLS.items():
            if words[0] == "hook":
                called, loaded = project.ask_hook(
                    "PreToolUse", "Write", file_path="src/auth/cache.py", content="x"
                )
            else:
                called, _ = project.trace(*words)
            yield f"{len(called):7,} functions in {len({file for file, _ in called})} files: {name}"
        for event, tool, given in (
            ("PreToolUse", "Bash", {"command": "rm -r src"}),
            ("PreToolUse", "Write", {"file_path": "other.py", "content": "x"}),
            ("PostToolUse", "Write", {"file_path": "other.py", "content": "x"}),
            ("PreToolUse", "Read", {"file_path": "other.py"}),
        ):
            loaded |= project.ask_hook(event, tool, **given)[1]
        yield from describe_late_imports(loaded)


def describe_times(report: Path) -> Iterator[str]:
    seconds = defaultdict[str, float](float)
    for case in ElementTree.parse(report).iter("testcase"):
        seconds[case.get("classname", "").split(".")[1]] += float(case.get("time", 0))
    slowest = sorted(((spent, folder) for folder, spent in seconds.items()), reverse=True)
    yield f"{sum(seconds.values()):7,.0f} seconds of tests, by folder:"
    yield from (f"{spent:11,.0f} {folder}" for spent, folder in slowest)


if __name__ == "__main__":
    for part in (
        describe_size(),
        describe_calls(),
        *(describe_times(Path(file)) for file in sys.argv[1:]),
    ):
        for line in part:
            print(line)  # noqa: T201
