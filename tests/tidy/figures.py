"""Figures about the tree, to look at: how names read, how much is explained, how full rooms are.

Not limits: a name is good if a newcomer who reads only that line knows what it holds.
`python -m tests.tidy.figures` prints them; so does `pytest tests/tidy -rP`.
"""

from __future__ import annotations

import ast
import io
import statistics
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "moot"
# Words with which a function's name may begin and say what it does or asks.
VERBS = frozenset(
    [
        "accept",
        "add",
        "adopt",
        "advise",
        "allow",
        "answer",
        "append",
        "apply",
        "approve",
        "archive",
        "ask",
        "assert",
        "assess",
        "audit",
        "backup",
        "beat",
        "begin",
        "blend",
        "bound",
        "break",
        "bring",
        "build",
        "call",
        "cast",
        "catch",
        "change",
        "check",
        "choose",
        "claim",
        "clean",
        "clear",
        "close",
        "collect",
        "combine",
        "commit",
        "compare",
        "compile",
        "compute",
        "confirm",
        "convene",
        "convert",
        "copy",
        "count",
        "cover",
        "create",
        "cut",
        "decide",
        "declare",
        "decode",
        "decorate",
        "defer",
        "delete",
        "deliver",
        "derive",
        "describe",
        "detect",
        "dismiss",
        "display",
        "divide",
        "drain",
        "draft",
        "draw",
        "drop",
        "dump",
        "embed",
        "encode",
        "end",
        "endorse",
        "enter",
        "erase",
        "escape",
        "establish",
        "estimate",
        "evolve",
        "examine",
        "exec",
        "execute",
        "expect",
        "expire",
        "explain",
        "export",
        "extend",
        "extract",
        "fail",
        "fetch",
        "file",
        "fill",
        "filter",
        "find",
        "finish",
        "fit",
        "fix",
        "fold",
        "follow",
        "forbid",
        "forget",
        "fork",
        "format",
        "forward",
        "freeze",
        "gather",
        "get",
        "give",
        "go",
        "grant",
        "group",
        "guard",
        "guess",
        "hand",
        "has",
        "hash",
        "have",
        "hide",
        "hold",
        "identify",
        "import",
        "indent",
        "index",
        "infer",
        "inform",
        "inherit",
        "initialize",
        "insert",
        "inspect",
        "install",
        "interpret",
        "interrupt",
        "invoke",
        "is",
        "join",
        "judge",
        "keep",
        "kill",
        "label",
        "lay",
        "lead",
        "leave",
        "let",
        "lift",
        "limit",
        "link",
        "lint",
        "list",
        "load",
        "lock",
        "log",
        "look",
        "make",
        "mark",
        "match",
        "may",
        "measure",
        "meet",
        "mend",
        "merge",
        "move",
        "name",
        "narrow",
        "negotiate",
        "normalize",
        "note",
        "notify",
        "number",
        "observe",
        "offer",
        "open",
        "order",
        "owe",
        "pad",
        "parse",
        "pass",
        "pause",
        "pick",
        "pin",
        "place",
        "plan",
        "play",
        "point",
        "poll",
        "post",
        "prepare",
        "print",
        "process",
        "promise",
        "prompt",
        "propose",
        "prove",
        "provide",
        "prune",
        "publish",
        "put",
        "query",
        "quote",
        "raise",
        "rank",
        "read",
        "rebuild",
        "receive",
        "recommend",
        "record",
        "recount",
        "redact",
        "refuse",
        "register",
        "reject",
        "release",
        "remark",
        "remember",
        "remove",
        "rename",
        "render",
        "repair",
        "repeat",
        "replace",
        "replay",
        "reply",
        "report",
        "represent",
        "require",
        "reserve",
        "reset",
        "resolve",
        "respond",
        "restore",
        "resume",
        "retire",
        "return",
        "review",
        "revoke",
        "rewrite",
        "roll",
        "rotate",
        "rule",
        "run",
        "satisfy",
        "save",
        "scan",
        "schedule",
        "score",
        "search",
        "seat",
        "see",
        "select",
        "send",
        "serve",
        "set",
        "settle",
        "shorten",
        "show",
        "shut",
        "sign",
        "skip",
        "snap",
        "sort",
        "speak",
        "spell",
        "split",
        "start",
        "state",
        "stop",
        "store",
        "strip",
        "submit",
        "suggest",
        "summarize",
        "sum",
        "supersede",
        "suspend",
        "take",
        "tally",
        "tell",
        "test",
        "tick",
        "tidy",
        "to",
        "trace",
        "track",
        "translate",
        "trim",
        "truncate",
        "try",
        "turn",
        "unlock",
        "unwrap",
        "update",
        "use",
        "vary",
        "verify",
        "view",
        "vote",
        "wait",
        "walk",
        "want",
        "warn",
        "watch",
        "weigh",
        "withdraw",
        "wrap",
        "write",
        "yield",
    ]
)


def trees() -> Iterator[tuple[Path, str, ast.Module]]:
    for file in sorted(PACKAGE.rglob("*.py")):
        text = file.read_text("utf-8")
        yield file, text, ast.parse(text)


def explained_lines(text: str, tree: ast.Module) -> int:
    """Lines that are comments or docstrings."""
    count = sum(line.lstrip().startswith("#") for line in text.splitlines())
    for node in ast.walk(tree):
        documented = isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
        )
        if documented and ast.get_docstring(node):
            first = node.body[0]
            count += (first.end_lineno or first.lineno) - first.lineno + 1
    return count


def code_lines(text: str, tree: ast.Module) -> int:
    """Lines that hold code: no blank lines, comments or docstrings."""
    ignored = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in ignored and token.type != tokenize.ENDMARKER:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(tree):
        documented = isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
        )
        if documented and ast.get_docstring(node):
            first = node.body[0]
            held -= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return len(held)


def figures() -> list[str]:
    names: list[str] = []
    classes: Counter[str] = Counter()
    lines = explained = code = 0
    rooms: Counter[str] = Counter()
    for file, text, tree in trees():
        rooms[str(file.parent.relative_to(PACKAGE.parent))] += 1
        lines += text.count("\n")
        explained += explained_lines(text, tree)
        code += code_lines(text, tree)
        functions = (
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
        names.extend(node.name.strip("_") for node in functions)
        classes.update(
            node.name
            for node in tree.body
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
        )
    own = [name for name in names if name]
    one_word = sum("_" not in name for name in own) / len(own)
    verbs = sum(name.split("_")[0] in VERBS for name in own) / len(own)
    participles = sum("_" not in name and name.endswith("ed") for name in own) / len(own)
    twice = [
        f"{name} {count}"
        for name, count in classes.most_common()
        if count > 1 and name not in ("State", "Stage", "Kind")
    ]
    full = ", ".join(f"{room} {count}" for room, count in rooms.most_common(5))
    shares = (
        f"{100 * one_word:.0f} % one-word names, {100 * participles:.1f} % bare participles,"
        f" {100 * verbs:.0f} % begin with a verb,"
        f" median length {statistics.median(map(len, own)):.0f}"
    )
    return [
        f"{lines} lines, {code} of code, {100 * explained / lines:.1f} % comments and docstrings",
        f"{len(own)} functions: {shares}",
        f"{len(twice)} public class names twice: {', '.join(twice[:12])}",
        f"largest folders: {full}",
    ]


if __name__ == "__main__":
    print("\n".join(figures()))  # noqa: T201
