"""Walks two syntax trees side by side and says where more differs than was declared."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from tools.same_tree import COMPREHENSIONS, FUNCTIONS, Declared, Scope, Tree, imported

BY_STRING = {"getattr", "setattr", "hasattr", "delattr", "attrgetter", "methodcaller"}
HINTS = {"annotation", "returns"}
DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?")


class Comparison:
    """One module of the old commit beside the module it became; `problems` is what differs."""

    def __init__(self, declared: Declared, old: Tree, new: Tree, module: str, became: str) -> None:
        self.declared, self.old, self.new = declared, old, new
        self.module, self.became = module, became
        self.scopes = [(old.tops[module], new.tops[became])]
        self.keep_docstrings = self.in_annotation = False
        self.problems: list[str] = []

    def report(self, node: ast.AST | None, problem: str) -> None:
        line = getattr(node, "lineno", 1)
        self.problems.append(f"{self.new.paths[self.became]}:{line}: {problem}")

    def modules_match(self, keep_docstrings: bool) -> list[str]:
        self.keep_docstrings = keep_docstrings
        old, new = self.old.modules[self.module], self.new.modules[self.became]
        self.block(old.body, new.body, has_docstring=True)
        return self.problems

    def same(self, old: Any, new: Any, near: ast.AST | None = None) -> None:
        """Compare two values of a field; `near` has the line when they have none."""
        near = new if hasattr(new, "lineno") else near
        if type(old) is not type(new):
            self.report(near, f"{_shown(old)} became {_shown(new)}")
        elif isinstance(old, list) and (old or new) and isinstance((old or new)[0], ast.stmt):
            self.block(old, new)
        elif isinstance(old, list):
            if len(old) != len(new):
                self.report(near, f"{len(old)} parts became {len(new)}: {_shown(new)}")
            for one, other in zip(old, new, strict=False):
                self.same(one, other, near)
        elif not isinstance(old, ast.AST):
            if old != new:
                self.report(near, f"{old!r} became {new!r}")
        elif handler := HANDLERS.get(type(old)):
            handler(self, old, new)
        else:
            self.fields(old, new)

    def fields(self, old: ast.AST, new: ast.AST, without: tuple[str, ...] = ()) -> None:
        for field in (name for name in old._fields if name not in ("ctx", *without)):
            outer, self.in_annotation = self.in_annotation, self.in_annotation or field in HINTS
            self.same(getattr(old, field), getattr(new, field), new)
            self.in_annotation = outer

    def block(self, old: list[ast.stmt], new: list[ast.stmt], has_docstring: bool = False) -> None:
        """Statements in their order; imports as a set, each with what it brings."""
        before = {self.import_became(entry) for entry in self.imports(old, 0)}
        after = self.imports(new, 1)
        for source, target, alias in sorted(before ^ after, key=str):
            what = "import is missing" if (source, target, alias) in before else "new import"
            self.report(new[0] if new else None, f"{what}: {target} as {alias} from {source}")
        skip = has_docstring and not self.keep_docstrings
        rows = [_statements(body, skip) for body in (old, new)]
        if len(rows[0]) != len(rows[1]):
            self.report(new[0] if new else None, f"{len(rows[0])} statements, now {len(rows[1])}")
        for one, other in zip(*rows, strict=False):
            self.same(one, other)

    def imports(self, body: list[ast.stmt], side: int) -> set[tuple[str, str, str | None]]:
        tree, module = (self.old, self.module) if side == 0 else (self.new, self.became)
        package = tree.paths[module].endswith("__init__.py")
        found = set()
        for node in body:
            for target, _, alias in imported(node, module, package):
                plain = isinstance(node, ast.Import) or target in tree.modules
                source = "" if plain else target.rpartition(".")[0]
                found.add((source, tree.origin(target), alias))
        return found

    def import_became(self, entry: tuple[str, str, str | None]) -> tuple[str, str, str | None]:
        return self.declared.new_name(entry[0]), self.declared.new_name(entry[1]), entry[2]

    def reach(self, name: str, side: int) -> int:
        """The index of the scope in which a name is bound; -1 is built in."""
        for index in range(len(self.scopes) - 1, -1, -1):
            scope = self.scopes[index][side]
            if scope.kind == "class" and index < len(self.scopes) - 1:
                continue
            if name in scope.bound:
                return index
        return -1

    def name(self, old: str | None, new: str | None, node: ast.AST) -> None:
        if old is None or new is None:
            self.same(old, new, node)
            return
        depth = self.reach(old, 0)
        scope = self.scopes[depth][0]
        if depth != self.reach(new, 1):
            self.report(node, f"{old} became {new}, which is bound in another scope")
        elif not (old == new if depth < 0 else self.declares(scope, old, new)):
            self.report(node, f"{old} became {new}, which is not declared")
        elif depth >= 0 and scope.pairs.setdefault(new, old) != old:
            self.report(node, f"{old} and {scope.pairs[new]} both became {new}")

    def declares(self, scope: Scope, old: str, new: str) -> bool:
        if old in scope.imports or scope.kind == "module":
            known = scope.imports.get(old, f"{self.module}.{old}")
            return new == (old if old in scope.aliased else self.last_name(known))
        names = self.declared.names
        if scope.kind == "class":
            key, pair = f"{scope.name}.{old}", (old, new)
        else:
            key, pair = f"{scope.name}({old})", (f"{scope.name.rpartition('.')[2]}({old})", new)
        wanted = names.get(key, names.get(f"{scope.name}.{old}", old))
        if scope.kind == "inner" and new == old:
            return True
        return new == wanted or pair in self.declared.members | self.declared.parameters

    def last_name(self, dotted: str) -> str:
        """The name under which a module's name is now known, also if it is only imported there."""
        origin, name = self.old.origin(dotted), dotted.rpartition(".")[2]
        if origin.rpartition(".")[2] != name:
            return name
        return self.declared.new_name(origin).rpartition(".")[2]

    def full_name(self, node: ast.AST, side: int) -> str | None:
        """`shelf.member` -> "moot.presence.shelf.member", if it begins with an import."""
        if isinstance(node, ast.Attribute):
            base = self.full_name(node.value, side)
            return base and f"{base}.{node.attr}"
        if not isinstance(node, ast.Name) or (depth := self.reach(node.id, side)) < 0:
            return None
        return self.scopes[depth][side].imports.get(node.id)

    def attribute(self, old: ast.Attribute, new: ast.Attribute) -> None:
        whole, base = self.full_name(old, 0), self.full_name(old.value, 0)
        if whole in self.old.modules:
            if self.full_name(new, 1) != self.declared.new_name(whole):
                self.report(new, f"{whole} became {ast.unparse(new)}")
            return
        if base in self.old.modules:
            fits = new.attr == self.last_name(f"{base}.{old.attr}")
        else:
            fits = old.attr == new.attr or (old.attr, new.attr) in self.declared.members
        if not fits:
            self.report(new, f".{old.attr} became .{new.attr}, which is not declared")
        self.same(old.value, new.value)

    def function(self, old: Any, new: Any) -> None:
        """Decorators, defaults and annotations belong to the scope around the function."""
        if not isinstance(old, ast.Lambda):
            self.name(old.name, new.name, new)
        self.fields(old, new, without=("name", "args", "body"))
        parameters = [
            [node for node in ast.walk(one.args) if isinstance(node, ast.arg)] for one in (old, new)
        ]
        for part in ("defaults", "kw_defaults"):
            self.same(getattr(old.args, part), getattr(new.args, part), new)
        self.same(_arity(old.args), _arity(new.args), new)
        for one, other in zip(*parameters, strict=False):
            self.fields(one, other, without=("arg",))
        self.enter("inner" if isinstance(old, ast.Lambda) else "function", old, new)
        for one, other in zip(*parameters, strict=False):
            self.name(one.arg, other.arg, other)
        self.body(old, new)

    def class_(self, old: ast.ClassDef, new: ast.ClassDef) -> None:
        self.name(old.name, new.name, new)
        self.fields(old, new, without=("name", "body"))
        self.enter("class", old, new)
        self.body(old, new)

    def comprehension(self, old: Any, new: Any) -> None:
        """The first iterable is read in the scope around the comprehension."""
        self.same(old.generators[0].iter, new.generators[0].iter)
        self.enter("inner", old, new)
        for place, pair in enumerate(zip(old.generators, new.generators, strict=False)):
            self.fields(*pair, without=() if place else ("iter",))
        self.same(len(old.generators), len(new.generators), new)
        self.fields(old, new, without=("generators",))
        self.scopes.pop()

    def enter(self, kind: str, old: Any, new: Any) -> None:
        """The names of an inner scope (lambda, comprehension) are declared as its function's."""
        inside = self.scopes[-1][0].name
        name = f"{inside}.{old.name}" if kind != "inner" else inside
        scopes = (
            self.old.scope(kind, name, old, self.module),
            self.new.scope(kind, name, new, self.became),
        )
        self.scopes.append(scopes)

    def body(self, old: Any, new: Any) -> None:
        if isinstance(old, ast.Lambda):
            self.same(old.body, new.body)
        else:
            self.block(old.body, new.body, has_docstring=True)
        self.scopes.pop()

    def call(self, old: ast.Call, new: ast.Call) -> None:
        self.same(old.func, new.func)
        called = ast.unparse(old.func).rpartition(".")[2]
        if len(old.args) != len(new.args):
            self.report(new, f"{len(old.args)} arguments became {len(new.args)}")
        for place, (one, other) in enumerate(zip(old.args, new.args, strict=False)):
            pair = (getattr(one, "value", None), getattr(other, "value", None))
            is_cast = called in ("cast", "TypeVar", "NewType") and place == 0
            self.in_annotation, outer = self.in_annotation or is_cast, self.in_annotation
            if not (called in BY_STRING and pair in self.declared.members):
                self.same(one, other)
            self.in_annotation = outer
        self.same(old.keywords, new.keywords, new)

    def keyword(self, old: ast.keyword, new: ast.keyword) -> None:
        if old.arg != new.arg and (old.arg, new.arg) not in self.declared.keywords:
            self.report(new.value, f"{old.arg}= became {new.arg}=, which is not declared")
        self.same(old.value, new.value)

    def match_class(self, old: ast.MatchClass, new: ast.MatchClass) -> None:
        self.fields(old, new, without=("kwd_attrs",))
        self.same(len(old.kwd_attrs), len(new.kwd_attrs), new)
        for pair in zip(old.kwd_attrs, new.kwd_attrs, strict=False):
            if pair[0] != pair[1] and pair not in self.declared.members:
                self.report(new, f"{pair[0]}= became {pair[1]}=, which is not declared")

    def assign(self, old: ast.Assign, new: ast.Assign) -> None:
        """`__all__` lists names of this module, in any order."""
        if ast.unparse(old.targets[0]) == "__all__" == ast.unparse(new.targets[0]):
            names = [ast.literal_eval(one.value) for one in (old, new)]
            names[0] = [self.last_name(f"{self.module}.{name}") for name in names[0]]
            self.same(sorted(names[0]), sorted(names[1]), new)
        else:
            self.fields(old, new)

    def constant(self, old: ast.Constant, new: ast.Constant) -> None:
        if not (isinstance(old.value, str) and isinstance(new.value, str)):
            self.same(old.value, new.value, new)
        elif self.text_fits(old.value, new.value):
            return
        elif self.in_annotation and (hint := _expression(old.value)):
            self.same(hint, _expression(new.value), new)
        else:
            self.report(new, f"{old.value!r} became {new.value!r}")

    def joined(self, old: ast.JoinedStr, new: ast.JoinedStr) -> None:
        """f"{_CLI}.init:init" is read as what it makes, if the module says what _CLI is."""
        before = _made_text(old, self.old.modules[self.module])
        after = _made_text(new, self.new.modules[self.became])
        if before is None or after is None or not self.text_fits(before, after):
            self.fields(old, new)

    def text_fits(self, old: str, new: str) -> bool:
        """The product's texts may be data: there only a whole text can be a module's name."""
        if old == new or (old, new) in self.declared.strings:
            return True
        if DOTTED.fullmatch(old):
            return new == self.text_became(old)
        is_product = self.old.paths[self.module].startswith("src/")
        return not is_product and new == DOTTED.sub(lambda match: self.text_became(match[0]), old)

    def text_became(self, old: str) -> str:
        """ "demo.views:told", if there is such a module and it binds such a name."""
        parts = re.split("[.:]", old)
        known = [n for n in range(1, len(parts) + 1) if ".".join(parts[:n]) in self.old.modules]
        if not known:
            return old
        module, rest = ".".join(parts[: known[-1]]), parts[known[-1] :]
        if rest and rest[0] not in self.old.tops[module].bound:
            return old
        names = [self.declared.new_name(module)]
        if rest:
            origin = self.old.origin(f"{module}.{rest[0]}")
            inner = self.declared.new_name(".".join([origin, *rest[1:]])).split(".")
            names += [self.last_name(f"{module}.{rest[0]}"), *inner[len(inner) - len(rest) + 1 :]]
        dotted = ".".join(names)
        return ":".join(dotted.rsplit(".", 1)) if ":" in old else dotted


def _statements(body: list[ast.stmt], without_docstring: bool) -> list[ast.stmt]:
    first = body[0] if body else None
    if without_docstring and isinstance(first, ast.Expr) and _is_text(first.value):
        body = body[1:]
    return [node for node in body if not isinstance(node, (ast.Import, ast.ImportFrom))]


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError:
        return None


def _made_text(node: ast.JoinedStr, module: ast.Module) -> str | None:
    constants = {
        target.id: one.value.value
        for one in module.body
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
        for target in one.targets
        if isinstance(target, ast.Name)
    }
    parts: list[Any] = []
    for value in node.values:
        if isinstance(value, ast.Constant):
            parts.append(value.value)
        elif isinstance(value, ast.FormattedValue) and isinstance(value.value, ast.Name):
            parts.append(constants.get(value.value.id))
        else:
            parts.append(None)
    return "".join(parts) if all(isinstance(part, str) for part in parts) else None


def _arity(args: ast.arguments) -> str:
    """How many parameters of each kind, whatever they are called."""
    kinds = (len(args.posonlyargs), len(args.args), len(args.kwonlyargs))
    return f"{kinds} parameters, *{args.vararg is not None}, **{args.kwarg is not None}"


def _shown(value: Any) -> str:
    values = value if isinstance(value, list) else [value]
    return ", ".join(ast.unparse(one) if isinstance(one, ast.AST) else repr(one) for one in values)


def _in_field(field: str) -> Callable[[Comparison, Any, Any], None]:
    """A node whose field binds a name (or None)."""

    def compare(comparison: Comparison, old: Any, new: Any) -> None:
        comparison.name(getattr(old, field), getattr(new, field), new)
        comparison.fields(old, new, without=(field,))

    return compare


def _free_names(comparison: Comparison, old: Any, new: Any) -> None:
    """`global` and `nonlocal`."""
    comparison.same(len(old.names), len(new.names), new)
    for pair in zip(old.names, new.names, strict=False):
        comparison.name(*pair, new)


HANDLERS: dict[type[ast.AST], Callable[[Comparison, Any, Any], None]] = {
    ast.Name: _in_field("id"),
    ast.ExceptHandler: _in_field("name"),
    ast.MatchAs: _in_field("name"),
    ast.MatchStar: _in_field("name"),
    ast.MatchMapping: _in_field("rest"),
    ast.Global: _free_names,
    ast.Nonlocal: _free_names,
    ast.Attribute: Comparison.attribute,
    ast.ClassDef: Comparison.class_,
    ast.Call: Comparison.call,
    ast.keyword: Comparison.keyword,
    ast.MatchClass: Comparison.match_class,
    ast.Assign: Comparison.assign,
    ast.Constant: Comparison.constant,
    ast.JoinedStr: Comparison.joined,
    **dict.fromkeys(FUNCTIONS, Comparison.function),
    **dict.fromkeys(COMPREHENSIONS, Comparison.comprehension),
}
