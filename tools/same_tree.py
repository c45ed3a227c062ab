"""What `same.py` compares: declared renames, the scopes of a program, the modules of a commit."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterable, Iterator
from typing import Any

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
SCOPES = (*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS)
LINE = re.compile(r"([\w.]+(?:\(\w+\))?)\s*->\s*([\w.]+)")


class Declared:
    """What may differ, as the moves files say."""

    def __init__(self, lines: Iterable[str]) -> None:
        self.moves: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.strings: set[tuple[str, str]] = set()
        for line in lines:
            self._read(line.strip())
        pairs = {(old.rpartition(".")[2], new) for old, new in self.names.items()}
        self.members = {pair for pair in pairs if "(" not in pair[0]}
        # Overriding methods share their parameters' names, so the class is left out: "over(now)".
        self.parameters = {pair for pair in pairs if "(" in pair[0]}
        self.keywords = self.members | {
            (old.partition("(")[2][:-1], new) for old, new in self.parameters
        }

    def _read(self, line: str) -> None:
        if line.startswith(('"', "'")):
            old, _, new = line.partition(" -> ")
            self.strings.add((ast.literal_eval(old), ast.literal_eval(new)))
        elif line := line.partition("#")[0].strip():
            if not (match := LINE.fullmatch(line)):
                raise SystemExit(f"not a rename: {line}")
            (self.moves if "." in match[2] else self.names)[match[1]] = match[2]

    def new_name(self, dotted: str) -> str:
        """The full name that `dotted` has in the new commit."""
        parts = dotted.split(".")
        prefixes = [".".join(parts[: n + 1]) for n in range(len(parts))]
        renamed = [self.names.get(p, part) for p, part in zip(prefixes, parts, strict=True)]
        moved = [n for n, prefix in enumerate(prefixes) if prefix in self.moves]
        if not moved:
            return ".".join(renamed)
        return ".".join([self.moves[prefixes[moved[-1]]], *renamed[moved[-1] + 1 :]])


class Scope:
    """The names that one scope binds; `pairs` grows as the two trees are compared."""

    def __init__(self, kind: str, name: str, node: ast.AST, module: str, is_package: bool) -> None:
        self.kind, self.name = kind, name
        self.imports: dict[str, str] = {}  # bound name -> full name of what it is
        self.aliased: set[str] = set()  # names given by `as`, which no rename follows
        self.bound: set[str] = set()
        self.free: set[str] = set()  # global and nonlocal
        self.pairs: dict[str, str] = {}
        for part in _inside(node):
            self.bound.update(_binds(part))
            if isinstance(part, (ast.Global, ast.Nonlocal)):
                self.free.update(part.names)
            for target, name_there, alias in imported(part, module, is_package):
                bound = alias or (name_there if isinstance(part, ast.ImportFrom) else "")
                bound = bound or target.partition(".")[0]
                self.bound.add(bound)
                self.imports[bound] = target if alias or bound == name_there else bound
                self.aliased.update([alias] if alias else [])
        self.bound -= self.free


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes that bind names in this scope; a walrus in a comprehension binds outside of it."""
    if isinstance(scope, COMPREHENSIONS):
        for generator in scope.generators:
            yield from ast.walk(generator.target)
        return
    if isinstance(scope, FUNCTIONS):
        yield from (node for node in ast.walk(scope.args) if isinstance(node, ast.arg))
    body: Any = getattr(scope, "body", [])
    waiting: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, COMPREHENSIONS):
            yield from (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
        elif not isinstance(node, SCOPES):
            waiting.extend(ast.iter_child_nodes(node))


def _binds(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.NamedExpr):
        return [node.target.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, ast.MatchMapping):
        return [node.rest] if node.rest else []
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler)
    if isinstance(node, (*named, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return []


def imported(node: ast.AST, module: str, is_package: bool) -> Iterator[tuple[str, str, str | None]]:
    """(full name, name there, alias) of each thing that an import statement brings."""
    if isinstance(node, ast.Import):
        yield from ((alias.name, alias.name, alias.asname) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = module.split(".")
        above = parts[: len(parts) - node.level + is_package] if node.level else []
        source = ".".join([*above, *([node.module] if node.module else [])])
        yield from ((f"{source}.{alias.name}", alias.name, alias.asname) for alias in node.names)


class Tree:
    """All Python modules of one commit, parsed."""

    def __init__(self, commit: str, parsed: dict[str, ast.Module]) -> None:
        self.paths: dict[str, str] = {}  # module -> path
        self.modules: dict[str, ast.Module] = {}
        listed = _git("ls-tree", "-r", commit).decode().splitlines()
        blobs = {path: about.split()[2] for about, path in (line.split("\t") for line in listed)}
        python = {path for path in blobs if path.endswith(".py")}
        self.others = {path: blobs[path] for path in blobs if path not in python}
        _parse({blobs[path] for path in python} - {*parsed}, parsed)
        for path in sorted(python):
            name = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
            name = name.removesuffix(".__init__")
            self.paths[name], self.modules[name] = path, parsed[blobs[path]]
        self.tops = {
            name: self.scope("module", name, node, name) for name, node in self.modules.items()
        }

    def scope(self, kind: str, name: str, node: ast.AST, module: str) -> Scope:
        return Scope(kind, name, node, module, self.paths[module].endswith("__init__.py"))

    def origin(self, dotted: str) -> str:
        """Where a name that is imported on (`from moot.presence import State`) is defined."""
        for _ in range(9):
            module, _, name = dotted.rpartition(".")
            if (
                dotted in self.modules
                or name not in (top := self.tops.get(module, NOTHING)).imports
            ):
                break
            dotted = top.imports[name]
        return dotted

    def is_bare(self, module: str) -> bool:
        """Is it a package's own file with nothing in it but a docstring?"""
        rest = [node for node in self.modules[module].body if not _is_preface(node)]
        return self.paths[module].endswith("__init__.py") and not rest


def _is_preface(node: ast.stmt) -> bool:
    """A docstring, or an import from `__future__`."""
    if isinstance(node, ast.ImportFrom):
        return node.module == "__future__"
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


NOTHING = Scope("module", "", ast.Module([], []), "", False)


def _git(*args: str, given: str = "") -> bytes:
    command = ["git", *args]
    done = subprocess.run(
        command, check=False, input=given.encode(), capture_output=True, timeout=60
    )
    if done.returncode:
        raise SystemExit(done.stderr.decode())
    return done.stdout


def _parse(blobs: set[str], parsed: dict[str, ast.Module]) -> None:
    rest = _git("cat-file", "--batch", given="".join(f"{blob}\n" for blob in sorted(blobs)))
    while rest:
        header, _, rest = rest.partition(b"\n")
        blob, _, size = header.decode().split()
        parsed[blob], rest = ast.parse(rest[: int(size)]), rest[int(size) + 1 :]
