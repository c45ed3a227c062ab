"""An import inside a function saves loading something, or would be a circle at the top."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

from tests.tidy.source import Module, module_names, modules

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def is_type_checking(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def imports_at_start(body: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """List the imports that run when the module is loaded."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.Try):
            yield from imports_at_start(node.body)


def targets(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Name the modules that a statement loads: ours in full, others as they are written."""
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    inner = {f"{node.module}.{alias.name}" for alias in node.names}
    return {name if name in module_names() else node.module or "" for name in inner}


def full_name(module: Module) -> str:
    return f"moot.{module.name}" if module.name else "moot"


@cache
def arrows() -> dict[str, frozenset[str]]:
    return {
        full_name(module): frozenset(
            name for node in imports_at_start(module.tree.body) for name in targets(node)
        )
        for module in modules()
    }


@cache
def loaded_with(name: str) -> frozenset[str]:
    """List all that is loaded when this module is."""
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        for target in arrows().get(waiting.pop(), ()):
            if target not in seen:
                seen.add(target)
                waiting.append(target)
    return frozenset(seen)


def late_imports(module: Module) -> Iterator[ast.Import | ast.ImportFrom]:
    found = {
        node
        for function in ast.walk(module.tree)
        if isinstance(function, FUNCTIONS)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    yield from sorted(found, key=lambda node: node.lineno)


def names_at_top(module: Module) -> set[str]:
    """List names that mean something at the top of the module already."""
    names: set[str] = set()
    for node in module.tree.body:
        if isinstance(node, FUNCTIONS | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
        elif not is_type_checking(node):
            names |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    return names


def is_needless(module: Module, node: ast.Import | ast.ImportFrom) -> bool:
    loaded = loaded_with(full_name(module))
    names = {alias.asname or alias.name for alias in node.names}
    return (
        targets(node) <= loaded
        and not any(full_name(module) in loaded_with(target) for target in targets(node))
        and not names & names_at_top(module)
    )


def test_an_import_inside_a_function_saves_loading_something() -> None:
    needless = [
        f"{module}:{node.lineno}"
        for module in modules()
        for node in late_imports(module)
        if is_needless(module, node)
    ]
    assert needless == []
