"""Where a module can be changed, and its source with exactly one change.

rule        a row of a rule table no longer checks anything
field       a field of a shape takes any value
transition  a row of a table of transitions is gone
line        a condition, an operator, a number, a yield or a raise of the code is another
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from pathlib import Path
from typing import Final, NamedTuple

KINDS: Final = ("rule", "field", "transition", "line")
_OTHER_COMPARISON: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


class CheckArgument(NamedTuple):
    """Which argument of a call is the check, and what takes its place."""

    kind: str
    place: int
    instead: str


CHECKS_NOTHING: Final = " checks nothing"
NO_CHECK: Final = "lambda *_: ()"
CHECK_OF_CALL: Final = {
    "Rule": CheckArgument("rule", 3, NO_CHECK),
    "Row": CheckArgument("rule", 3, NO_CHECK),
    "norm": CheckArgument("rule", 3, NO_CHECK),
    "ShapeField": CheckArgument("field", 2, "lambda *_: iter(())"),
}
# The check of a row that never checks anything: the code beside the table finds it.
_FOUND_ELSEWHERE: Final = "_never"
_SWITCHED_OFF: Final = f"(lambda row: (setattr(row, 'check', {NO_CHECK}), row)[1])(row)"


class Mutant(NamedTuple):
    """One change of one module; `number` counts the changes that the module offers."""

    path: Path
    number: int
    kind: str
    line: int
    change: str
    id: str


def list_mutants(path: Path, root: Path) -> list[Mutant]:
    source = path.read_text()
    digest = hashlib.sha256(source.encode()).hexdigest()[:12]
    place = path.relative_to(root).as_posix()
    changer = _Changer(chosen=-1)
    changer.visit(ast.parse(source))
    seen: Counter[tuple[str, int, str]] = Counter()
    mutants = []
    for number, offer in enumerate(changer.offers):
        kind, line, change = offer
        seen[offer] += 1
        id_ = f"{place}@{digest}:{line} {kind} {change} ({seen[offer]})"
        mutants.append(Mutant(path, number, kind, line, change, id_))
    return mutants


def write_mutant(mutant: Mutant) -> str:
    return ast.unparse(change_tree(mutant)) + "\n"


def change_tree(mutant: Mutant) -> ast.Module:
    """What is not changed keeps its lines."""
    tree = ast.parse(mutant.path.read_text())
    _Changer(chosen=mutant.number).visit(tree)
    return ast.fix_missing_locations(tree)


class _Changer(ast.NodeTransformer):
    """Offers every change in the order of the tree, and makes the chosen one."""

    def __init__(self, chosen: int) -> None:
        self.chosen = chosen
        self.offers: list[tuple[str, int, str]] = []
        self.makers: set[str] = set()  # functions of this module that make one row for each call

    def _takes(self, kind: str, node: ast.AST, change: str) -> bool:
        self.offers.append((kind, getattr(node, "lineno", 0), change))
        return len(self.offers) - 1 == self.chosen

    # Tables --------------------------------------------------------------------------------------

    def visit_Module(self, node: ast.Module) -> ast.AST:
        self.makers = {
            one.name for one in node.body if isinstance(one, ast.FunctionDef) and _makes_a_row(one)
        }
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        shown = ", ".join(ast.unparse(one) for one in node.args[:2])
        if name in self.makers and self._takes("rule", node, f"{name}({shown}){CHECKS_NOTHING}"):
            return _call_with(_SWITCHED_OFF, node)
        if name in CHECK_OF_CALL and name not in self.makers:
            kind, place, instead = CHECK_OF_CALL[name]
            checks = len(node.args) > place and ast.unparse(node.args[place]) != _FOUND_ELSEWHERE
            if checks and self._takes(kind, node, f"{name}({shown}){CHECKS_NOTHING}"):
                node.args[place] = ast.parse(instead, mode="eval").body
        if getattr(node.func, "attr", name) == "an_object" and isinstance(node.args[0], ast.Dict):
            node.args[0].has_field_rules = True  # type: ignore[attr-defined]
        return self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        self.generic_visit(node)
        if getattr(node, "is_transition_row", False):
            for place, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
                shown = ast.unparse(key) if key else f"**{ast.unparse(value)}"
                if self._takes("transition", key or value, f"no {shown}"):
                    del node.keys[place], node.values[place]
                    break
        if getattr(node, "has_field_rules", False):
            for place, key in enumerate(node.keys):
                if key and self._takes("field", key, f"{ast.unparse(key)} may be anything"):
                    node.values[place] = ast.parse("lambda _: True", mode="eval").body
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if isinstance(node.target, ast.Name) and "TRANSITIONS" in node.target.id:
            for row in ast.walk(node.value) if node.value is not None else ():
                if isinstance(row, ast.Dict) and row is not node.value:
                    row.is_transition_row = True  # type: ignore[attr-defined]
        if ast.unparse(node.annotation).endswith("field_rules.Rule]]"):
            node.value.has_field_rules = True  # type: ignore[union-attr]
        elif ast.unparse(node.annotation).endswith("field_rules.Rule]]]"):
            for row in node.value.values if isinstance(node.value, ast.Dict) else ():
                row.has_field_rules = True  # type: ignore[attr-defined]
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    # Lines ---------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        if node.name in self.makers or node.name in CHECK_OF_CALL:
            return node  # the rows are offered one by one where it is called
        node.body = [changed for one in node.body for changed in [self.visit(one)] if changed]
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        other = _OTHER_COMPARISON.get(type(node.ops[0]))
        if len(node.ops) == 1 and other is not None:
            before = ast.unparse(node)
            if self._takes("line", node, f"{before}: {other.__name__}"):
                node.ops = [other()]
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        self.generic_visit(node)
        if self._takes("line", node, f"{ast.unparse(node)}: the other of and, or"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and self._takes(
            "line", node, f"{ast.unparse(node)}: no not"
        ):
            return node.operand
        return node

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        for never in (True, False):
            if self._takes("line", node, f"if {ast.unparse(node.test)}: always {not never}"):
                node.test = ast.Constant(not never)
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        is_text = isinstance(node.value, ast.Constant)
        self.generic_visit(node)
        if is_text or not isinstance(node.value, ast.Yield | ast.YieldFrom | ast.Call):
            return node
        if self._takes("line", node, f"without {ast.unparse(node)}"):
            # A generator stays one, even if nothing is left to yield.
            is_call = isinstance(node.value, ast.Call)
            return ast.Pass() if is_call else ast.parse("yield from ()").body[0]
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        self.generic_visit(node)
        return ast.Pass() if self._takes("line", node, f"without {ast.unparse(node)}") else node

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            if self._takes("line", node, f"{node.value}: {not node.value}"):
                return ast.Constant(not node.value)
        elif isinstance(node.value, int) and self._takes("line", node, f"{node.value}: one more"):
            return ast.Constant(node.value + 1)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Keywords of a class (frozen, kw_only) are no behaviour of ours."""
        node.body = [changed for one in node.body for changed in [self.visit(one)] if changed]
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return node


def _makes_a_row(function: ast.FunctionDef) -> bool:
    returned = ast.unparse(function.returns) if function.returns is not None else ""
    return returned == "Row" or returned.startswith("Rule[")


def _call_with(expression: str, node: ast.expr) -> ast.expr:
    """The call, with the node as its argument."""
    call = ast.parse(expression, mode="eval").body
    assert isinstance(call, ast.Call)
    call.args = [node]
    return ast.copy_location(call, node)
