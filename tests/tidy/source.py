"""The source tree as data: modules, what they import, and the text of every file."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "moot"
TEXT_SUFFIXES = {".py", ".md", ".toml", ".sql", ".txt", ".json", ".jsonl", ".golden", ".yml", ""}
FIVE = {"presence", "mail", "debate", "parliament", "trace"}
CACHES = {".hypothesis", ".mypy_cache", ".pytest_cache", ".ruff_cache", "__pycache__"}
OUTSIDE_OF_THE_TREE = CACHES | {".git", ".venv", "build", "dist"}


class Module:
    """One file of the package; `name` is dotted, without the leading `moot`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        self.name = ".".join(part for part in parts if part != "__init__")
        self.package = ".".join(parts[:-1])
        self.top = parts[0] if len(parts) > 1 else ""
        self.protocol = parts[1] if self.top == "protocols" and len(parts) > 2 else ""

    @cached_property
    def text(self) -> str:
        return self.path.read_text("utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    def __repr__(self) -> str:
        return str(self.path.relative_to(ROOT))

    def imports(self) -> Iterator[tuple[str, int]]:
        """Every imported module with its line, inside functions too."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((alias.name, node.lineno) for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{self}:{node.lineno}: a relative import"
                yield from self._names(node)

    def _names(self, node: ast.ImportFrom) -> Iterator[tuple[str, int]]:
        """`from moot.core import clock` imports `moot.core.clock`, a name of a module only that."""
        module = node.module or ""
        for alias in node.names:
            inner = f"{module}.{alias.name}"
            yield inner if inner in module_names() else module, node.lineno

    def own_imports(self) -> Iterator[tuple[str, int]]:
        """The modules of this package that it imports, without the leading `moot`."""
        for name, line in self.imports():
            if name.split(".")[0] == "moot":
                yield name.partition(".")[2], line

    def foreign_imports(self) -> Iterator[tuple[str, int]]:
        for name, line in self.imports():
            if name.split(".")[0] not in ("moot", "__future__"):
                yield name, line


@cache
def modules() -> tuple[Module, ...]:
    return tuple(Module(path) for path in sorted(PACKAGE.rglob("*.py")))


@cache
def module_names() -> frozenset[str]:
    """Every module and package of ours, with the leading `moot`."""
    files = (path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py"))
    return frozenset(".".join(file.parts).removesuffix(".__init__") for file in files)


def package_of(name: str) -> str:
    """The package that a module's name (without `moot`) stands in, or is."""
    folder = PACKAGE.joinpath(*name.split("."))
    return name if folder.is_dir() else name.rpartition(".")[0]


@cache
def protocols() -> frozenset[str]:
    """The five, and whatever else holds a machine."""
    return frozenset(module.protocol for module in modules() if module.protocol)


def _is_ours(folder: Path) -> bool:
    """Neither made by a tool nor, whatever its name, an environment for some Python."""
    is_outside = folder.name in OUTSIDE_OF_THE_TREE or folder.name.endswith(".egg-info")
    return not is_outside and not (folder / "pyvenv.cfg").exists()


@cache
def text_files() -> tuple[Path, ...]:
    """Every file of the project that a person may read."""
    found: list[Path] = []
    for folder, names, files in os.walk(ROOT):
        names[:] = sorted(name for name in names if _is_ours(Path(folder, name)))
        found += (Path(folder, name) for name in sorted(files) if name != ".git")  # a worktree's
    return tuple(path for path in found if path.suffix in TEXT_SUFFIXES)
