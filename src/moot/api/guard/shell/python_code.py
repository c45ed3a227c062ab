"""Find out which files Python code would write; the code is parsed, never run.

A path is known if it is a literal, or a variable that is set once. Any other written path makes the
code unresolved.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Final, NamedTuple

_WRITING_MODES: Final = frozenset("wax+")
# The positions of the arguments that a function writes or removes.
_FUNCTIONS: Final = {
    "os.remove": (0,),
    "os.unlink": (0,),
    "os.rmdir": (0,),
    "os.removedirs": (0,),
    "os.truncate": (0,),
    "os.rename": (0, 1),
    "os.renames": (0, 1),
    "os.replace": (0, 1),
    "shutil.rmtree": (0,),
    "shutil.move": (0, 1),
    "shutil.copy": (1,),
    "shutil.copy2": (1,),
    "shutil.copyfile": (1,),
    "shutil.copytree": (1,),
}
# Methods of a path that write it; `rename` and `replace` also write their argument.
_OF_A_PATH: Final = frozenset({"write_text", "write_bytes", "unlink", "rmdir", "rename", "replace"})
# Methods of any object that write the given file.
_SAVING_NAMES: Final = (
    "save savefig to_csv to_json to_excel to_parquet to_pickle to_html savetxt tofile extractall"
    " urlretrieve"
)
_SAVING: Final = frozenset(_SAVING_NAMES.split())
_RUNNING_NAMES: Final = "system popen run call check_call check_output Popen"
_RUNNING: Final = frozenset(_RUNNING_NAMES.split())
_RUNNERS: Final = ("os", "subprocess")
_OPAQUE: Final = frozenset({"exec", "eval", "__import__", "runpy.run_path", "runpy.run_module"})


class PythonCode(NamedTuple):
    """`written` are paths, `scripts` are shell texts and programs that it runs.

    `is_unresolved`: it writes a path, or runs something, that is not a literal.
    """

    text: str
    written: tuple[str, ...]
    scripts: tuple[str, ...]
    is_unresolved: bool


def read_python(code: str) -> PythonCode | None:
    """Return what the code writes; None if it does not parse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    reader = _Reader(tree)
    try:
        reader.read()
    except RecursionError:
        return None
    written = tuple(dict.fromkeys(reader.written))
    return PythonCode(code, written, tuple(reader.scripts), reader.is_unresolved)


class _Reader:
    def __init__(self, tree: ast.AST) -> None:
        self._nodes = list(ast.walk(tree))
        self._modules = dict(self._imported())
        self._values = self._assigned()
        self.written: list[str] = []
        self.scripts: list[str] = []
        self.is_unresolved = False

    def read(self) -> None:
        for node in self._nodes:
            if isinstance(node, ast.Call):
                self._read_call(node)

    def _imported(self) -> Iterator[tuple[str, str]]:
        """Yield the full name of each imported name: `from pathlib import Path as P`."""
        for node in self._nodes:
            if isinstance(node, ast.Import):
                for each in node.names:
                    yield each.asname or each.name.partition(".")[0], each.name
            elif isinstance(node, ast.ImportFrom):
                for each in node.names:
                    yield each.asname or each.name, f"{node.module}.{each.name}"

    def _assigned(self) -> dict[str, ast.expr | None]:
        """Return the value of each name that is set exactly once; None for the others."""
        values: dict[str, ast.expr | None] = {}
        for node in self._nodes:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                name = node.targets[0].id
                values[name] = None if name in values or node.targets[1:] else node.value
        for node in self._nodes:
            if isinstance(node, ast.For | ast.comprehension | ast.AugAssign | ast.NamedExpr):
                for each in ast.walk(node.target):
                    if isinstance(each, ast.Name):
                        values[each.id] = None
        return values

    def _read_call(self, node: ast.Call) -> None:
        name = self._full_name(node.func)
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if name in ("open", "io.open", "codecs.open"):
            self._read_open(node, node.args[0] if node.args else None, 1)
        elif name in _FUNCTIONS:
            for place in _FUNCTIONS[name]:
                self._write(node.args[place] if place < len(node.args) else None)
        elif name in _OPAQUE:
            self.is_unresolved = True
        elif name.startswith(_RUNNERS) and name.rpartition(".")[2] in _RUNNING:
            self._run(node.args[0] if node.args else None)
        elif name.startswith("os.") and name[3:].startswith(("exec", "spawn")):
            self.is_unresolved = True
        elif name.startswith("fileinput.") and any(each.arg == "inplace" for each in node.keywords):
            self._write(node.args[0] if node.args else None)
        elif isinstance(node.func, ast.Attribute):
            self._read_method(node, node.func.value, method)

    def _read_method(self, node: ast.Call, owner: ast.expr, method: str) -> None:
        is_of_text = method == "replace" and len(node.args) != 1
        if method in _OF_A_PATH and not is_of_text:
            self._write(owner)
            if method in ("rename", "replace") and node.args:
                self._write(node.args[0])
        elif method == "open":
            is_module = isinstance(owner, ast.Name) and owner.id in self._modules
            if is_module:  # `gzip.open(path, "wb")`
                self._read_open(node, node.args[0] if node.args else None, 1)
            else:
                self._read_open(node, owner, 0)
        elif method in _SAVING and node.args:
            self._write(node.args[0])

    def _read_open(self, node: ast.Call, path: ast.expr | None, place: int) -> None:
        given = [each.value for each in node.keywords if each.arg == "mode"]
        given += node.args[place : place + 1]
        if not given:
            return
        mode = self._text(given[0])
        if mode is None or _WRITING_MODES.intersection(mode):
            self._write(path)

    def _write(self, path: ast.expr | None) -> None:
        text = None if path is None else self._text(path)
        if text is None:
            self.is_unresolved = True
        else:
            self.written.append(text)

    def _run(self, argument: ast.expr | None) -> None:
        """Note a text for a shell, or a list of words."""
        import shlex

        if isinstance(argument, ast.List | ast.Tuple):
            words = [self._text(each) for each in argument.elts]
            if all(word is not None for word in words):
                self.scripts.append(" ".join(shlex.quote(word) for word in words if word))
                return
        text = None if argument is None else self._text(argument)
        if text is None:
            self.is_unresolved = True
        else:
            self.scripts.append(text)

    def _text(self, node: ast.expr, nested: int = 0) -> str | None:
        """Return the value of an expression that is a text or path; None if unknown."""
        if nested > 8:
            return None
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if isinstance(node, ast.Name):
            value = self._values.get(node.id)
            return None if value is None else self._text(value, nested + 1)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            left, right = self._text(node.left, nested + 1), self._text(node.right, nested + 1)
            slash = "/" if isinstance(node.op, ast.Div) else ""
            return None if left is None or right is None else f"{left}{slash}{right}"
        if isinstance(node, ast.Call) and node.args and not node.keywords:
            name = self._full_name(node.func)
            if name in ("pathlib.Path", "Path", "str", "os.path.join", "pathlib.PurePath"):
                texts = [self._text(each, nested + 1) for each in node.args]
                return None if None in texts else "/".join(text for text in texts if text)
        return None

    def _full_name(self, node: ast.expr) -> str:
        """Return `pathlib.Path` for `P` if it was imported so; empty if it is not a plain name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join((self._modules.get(node.id, node.id), *reversed(parts)))
