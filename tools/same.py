"""Proves that two commits hold the same program, but for declared renames and moves.

    python -m tools.same OLD_COMMIT NEW_COMMIT --moves FILE [--moves FILE] [--docstrings]

A line of a moves file is `old -> new`; `#` begins a comment. The old side is the full name in the
old commit:

    moot.flows.word -> moot.api.parliaments.ruling     a module or package (the new name is dotted)
    moot.presence.views.told -> describe_agent          a function, class or constant of a module
    moot.presence.model.State.live -> leases            a method or field, in subclasses too
    moot.presence.views.told(who) -> name               a parameter or local of a function
    "old text" -> "new text"                            a string that had to follow, in quotes

Formatting, comments, the order of imports and (without --docstrings) docstrings do not count. A
name must reach the same scope in both trees, so a rename that a local captures is found. The type
of a receiver is unknown here: `x.old` may become `x.new` wherever some class declares old -> new.
Files that are not Python are only listed. Exit code 1: something else differs.
"""

from __future__ import annotations

import argparse
import ast
import sys
from pathlib import Path

from tools.same_tree import Declared, Tree
from tools.same_walk import Comparison


def differences(declared: Declared, old: Tree, new: Tree, keep_docstrings: bool) -> list[str]:
    became = {module: declared.new_name(module) for module in old.modules}
    problems = [
        f"{name}: declared, but not there" for name in declared.moves if name not in old.modules
    ]
    for module, name in sorted(became.items()):
        if name in new.modules:
            problems += Comparison(declared, old, new, module, name).modules_match(keep_docstrings)
        elif not old.is_bare(module):
            problems.append(f"{old.paths[module]}: has no {name} in the new commit")
    for name in sorted({*new.modules} - {*became.values()}):
        if not new.is_bare(name):
            problems.append(f"{new.paths[name]}: is new")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--moves", action="append", default=[], type=Path, metavar="FILE")
    parser.add_argument("--docstrings", action="store_true", help="docstrings count too")
    options = parser.parse_args()
    parsed: dict[str, ast.Module] = {}
    old, new = Tree(options.old, parsed), Tree(options.new, parsed)
    lines = [line for path in options.moves for line in path.read_text("utf-8").splitlines()]
    problems = differences(Declared(lines), old, new, options.docstrings)
    for path in sorted({*old.others, *new.others}):
        if old.others.get(path) != new.others.get(path):
            print(f"not compared: {path}", file=sys.stderr)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"{len(new.modules)} modules, {len(problems)} differences")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
