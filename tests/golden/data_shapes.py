"""The shape of an answer's `data`: its JSON paths, the types at each, and which are always there.

`agents[].name` is the name of every item of a list; `votes{}` is every value of a map whose keys
are data (names, ids), which MAPS lists. A path that ends in `?` in `data.json` may be missing.

To let the golden grow on purpose, run the tests that print what is new with
MOOT_RECORD_DATA=FOLDER, then `python -m tests.golden.data_shapes --write FOLDER`: lines may come,
none may change. After a recording of the whole suite `--lost FOLDER` names the paths of the golden
that no test prints any more, which no single answer can show of a path that may be missing.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

GOLDEN = Path(__file__).with_name("data.json")
RENEW = (
    "run the tests that print it with MOOT_RECORD_DATA=FOLDER, "
    "then `python -m tests.golden.data_shapes --write FOLDER`"
)
# Maps whose keys are data, by how their paths end.
MAPS = (
    "decision.endings",
    "decision.shared_models",
    "liveness",
    "mail.owed",
    "motive_satisfaction",
    "motive_scores",
    "parts",
    "positions",
    "satisfaction",
    "seats",
    "sessions[].tools",
    "stances",
)
MAP_ENDS = tuple(f".{one}" for one in MAPS)
ITEMS = ("[]", "{}")
TYPES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "list",
    dict: "object",
}


class Field(NamedTuple):
    """What may stand at a path; `always`: no object that could hold it lacks it."""

    types: frozenset[str]
    always: bool


Shape = Mapping[str, Field]


class Difference(NamedTuple):
    """`broken`: what readers relied on is not so any more; `grown`: paths that nobody knew."""

    broken: list[str]
    grown: list[str]


def shape_of(data: Mapping[str, Any]) -> Shape:
    """The shape of what a command printed, which must be JSON's own types."""
    walk = _Walk()
    walk.visit("", data)
    return {
        path: Field(frozenset(types), walk.present[path] == walk.objects[parent_of(path)])
        for path, types in walk.types.items()
        if path
    }


class _Walk:
    def __init__(self) -> None:
        self.types: dict[str, set[str]] = {}
        self.objects: Counter[str] = Counter()
        self.present: Counter[str] = Counter()

    def visit(self, path: str, value: Any) -> None:
        self.types.setdefault(path, set()).add(TYPES[type(value)])
        if isinstance(value, list):
            for item in value:
                self.visit(f"{path}[]", item)
        elif isinstance(value, dict) and f".{path}".endswith(MAP_ENDS):
            for item in value.values():
                self.visit(f"{path}{{}}", item)
        elif isinstance(value, dict):
            self.objects[path] += 1
            for key, item in value.items():
                below = f"{path}.{key}" if path else key
                self.present[below] += 1
                self.visit(below, item)


def parent_of(path: str) -> str:
    """Where the object, list or map stands that holds what is at `path`."""
    if path.endswith(ITEMS):
        return path[:-2]
    return path.rpartition(".")[0]


def merge(one: Shape, other: Shape) -> Shape:
    """The shape that covers both."""
    return {path: _merged(path, one, other) for path in {**one, **other}}


def _merged(path: str, one: Shape, other: Shape) -> Field:
    if path in one and path in other:
        types = one[path].types | other[path].types
        return Field(types, one[path].always and other[path].always)
    there, elsewhere = (one, other) if path in one else (other, one)
    return Field(there[path].types, there[path].always and not _has_object(elsewhere, path))


def _has_object(shape: Shape, path: str) -> bool:
    """Is there an object that could hold what is at `path`?"""
    parent = parent_of(path)
    if path.endswith(ITEMS):  # a list or a map may be empty
        return False
    return not parent or (parent in shape and "object" in shape[parent].types)


def compare(golden: Shape, shape: Shape) -> Difference:
    """What one answer's shape breaks of the golden, and what it adds."""
    missing = [
        f"`{path}` is missing"
        for path, field in golden.items()
        if field.always and not _merged(path, golden, shape).always
    ]
    changed = [
        f"`{path}` is {_words(field.types)}, not {_words(golden[path].types)}"
        for path, field in shape.items()
        if path in golden and not field.types <= golden[path].types
    ]
    return Difference(missing + changed, [f"`{path}`" for path in shape if path not in golden])


def _words(types: Iterable[str]) -> str:
    return " or ".join(sorted(types))


def read(file: Path) -> dict[str, Shape]:
    """The shape of each command, from a file that `write` has made."""
    return {
        command: {
            path.removesuffix("?"): Field(frozenset(types.split(" ")), not path.endswith("?"))
            for path, types in paths.items()
        }
        for command, paths in json.loads(file.read_text("utf-8")).items()
    }


def write(file: Path, shapes: Mapping[str, Shape]) -> None:
    """Sorted, a path to a line, so that a difference can be read."""
    document = {
        command: {
            path if field.always else f"{path}?": " ".join(sorted(field.types))
            for path, field in sorted(shapes[command].items())
        }
        for command in sorted(shapes)
    }
    file.write_text(json.dumps(document, indent=2) + "\n", "utf-8")


def merge_all(recorded: Iterable[Mapping[str, Shape]]) -> dict[str, Shape]:
    def add(whole: dict[str, Shape], part: Mapping[str, Shape]) -> dict[str, Shape]:
        for command, shape in part.items():
            whole[command] = merge(whole[command], shape) if command in whole else shape
        return whole

    return reduce(add, recorded, {})


def lost(golden: Mapping[str, Shape], recorded: Mapping[str, Shape]) -> list[str]:
    """The paths that nothing in the recording has printed."""
    return [
        f"{command} {path}"
        for command, shape in golden.items()
        for path in shape
        if path not in recorded.get(command, {})
    ]


def main(arguments: list[str], golden: Path = GOLDEN) -> int:
    if len(arguments) != 2 or arguments[0] not in ("--write", "--lost"):
        sys.stderr.write("usage: python -m tests.golden.data_shapes --write|--lost FOLDER\n")
        return 2
    known = read(golden) if golden.exists() else {}
    recorded = merge_all(map(read, sorted(Path(arguments[1]).glob("*.json"))))
    if arguments[0] == "--write":
        write(golden, merge_all([known, recorded]))
        return 0
    unprinted = lost(known, recorded)
    sys.stdout.write("".join(f"{one}\n" for one in unprinted))
    return 1 if unprinted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
