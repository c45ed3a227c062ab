"""Shell commands made to be slow to read; each is a text for a size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

HOSTILE: Final[dict[str, Callable[[int], str]]] = {
    "lists": lambda n: "ls;\n" * n + "x",
    "echo lines with blank lines": lambda n: 'echo "== 1 =="\n\n' * n + "pytest -q",
    "blank lines": lambda n: "\n" * n + "x",
    "blanks": lambda n: " " * n + "x",
    "find in find": lambda n: "find . -exec " * n + "rm {} +",
    "many -exec": lambda n: "find . " + "-exec rm {} ; " * n,
    "find with many starts": lambda n: "find " + "a " * n + "-exec rm " + "{} " * n + "+",
    "cases": lambda n: "case x in " * n + "rm a",
    "cases without in": lambda n: "case " * n + "rm a",
    "doubled": lambda n: "A=aaaaaaaa;" + "A=$A$A;" * n + ">$A",
    "appended": lambda n: "A=aaaaaaaa;" + "A=a$A$A;B=$A;" * n + "rm $B",
    "one variable often": lambda n: "A=" + "a" * n + "; rm " + "$A" * n,
    "empty choices": lambda n: "for E in " + "'' " * n + "; do rm " + "$E" * n + "; done",
    "choices": lambda n: "for E in " + "a b " * n + "; do rm " + "$E" * 30 + "; done",
    "braces": lambda n: "rm " + "{a,b}" * n,
    "nested braces": lambda n: "rm " + "{a," * n + "}" * n,
    "open braces": lambda n: "rm " + "{" * 15 + "," * n,
    "ranges": lambda n: "rm " + "{1..9999}" * n,
    "double quotes": lambda n: 'rm "' * n,
    "single quotes": lambda n: "rm '" * n,
    "escaped quotes": lambda n: 'rm "' + '\\"' * n,
    "substitutions": lambda n: "rm " + "$(" * n,
    "quoted substitutions": lambda n: "rm " + '"$(' * n,
    "closed substitutions": lambda n: "rm " + "$(echo a)" * n,
    "backticks": lambda n: "rm " + "`a` " * n,
    "parentheses": lambda n: "(" * n + "rm a" + ")" * n,
    "parentheses apart": lambda n: "(" * n + "rm a" + " )" * n,
    "arithmetic": lambda n: "((" * n,
    "arithmetic apart": lambda n: "rm " + "$((" * n + "a" + ") " * n,
    "added to": lambda n: "A=aaaaaaaa;" + "A+=$A;" * n + "rm $A",
    "assignments and subshells": lambda n: "".join(f"A{i}=1;(rm $A{i});" for i in range(n)),
    "here-documents": lambda n: "cat <<A\nx\nA\n" * n + "rm a",
    "open here-documents": lambda n: "cat <<A\n" * n,
    "here-documents on a line": lambda n: "cat " + "<<A " * n + "\n" + "x\n" * n,
    "shells in here-documents": lambda n: "bash <<A\n$(" * n,
    "shells": lambda n: "bash -c 'bash -c \"" * n + "rm a",
    "eval": lambda n: "eval " * n + "rm a",
    "wrappers": lambda n: "env " * n + "rm a",
    "pipes": lambda n: "ls |" * n + "xargs rm",
    "xargs": lambda n: "xargs " * n + "rm a",
    "commands": lambda n: "true;" * n + "rm a",
    "redirects": lambda n: ">a " * n,
    "words": lambda n: "rm " + "a " * n,
    "options": lambda n: "rm " + "-f " * n + "a",
    "dashes": lambda n: "git " + "-C a " * n + "checkout -- .",
    "adds and commits": lambda n: "".join(f"git add f{i}; git commit -m x;" for i in range(n)),
    "folders": lambda n: "cd a && " * n + "rm a",
    "stack": lambda n: "pushd a;(popd);" * n + "rm a",
    "interpreter": lambda n: "python" + "1" * n + 'x -c \'open("a","w")\'',
    "code": lambda n: "python -c 'write(" + '"a.b" ' * n + ")'",
    "comments": lambda n: "# a\n" * n + "rm a",
    "dollars": lambda n: "rm " + "$" * n,
    "open expansions": lambda n: "rm " + "${" * n,
    "patches": lambda n: "apply_patch " + "cd a && " * n + "*** Begin Patch\n",
}
# About 64 KB of what agents really send: a script, and a file that is written by one command.
HONEST: Final = {
    "script": "".join(
        f'echo "== step {i} =="\n\ncd src && python -m pytest -q tests/test_{i}.py | tail -5\n'
        for i in range(800)
    )[: 1 << 16],
    "file": "cat > out.txt <<'EOF'\n" + "a line of some file, as long as usual\n" * 1_700 + "EOF\n",
}


def of_size(make: Callable[[int], str], size: int) -> str:
    """A text of about that many letters."""
    unit = max(1, (len(make(65)) - len(make(1))) // 64)
    return make(max(1, size // unit))[: size + 64]
