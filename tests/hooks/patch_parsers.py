"""How the tools themselves read a patch, written down a second time, line by line.

What is here follows their published sources: Codex (`apply-patch`, its streaming parser and the
one before it) and opencode (`patch`). It is slow and literal on purpose: the hook's own reading
must never name fewer files.
"""

from __future__ import annotations

RUST = [
    *"\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000",
    *(chr(code) for code in range(0x2000, 0x200B)),
]
JAVASCRIPT = [letter for letter in RUST if letter != "\x85"] + ["\ufeff"]


def trim(text: str, blanks: list[str]) -> str:
    while text and text[0] in blanks:
        text = text[1:]
    while text and text[-1] in blanks:
        text = text[:-1]
    return text


def codex_files(patch: str) -> list[str]:
    """Every path of the streaming parser, until it stops at a line that it does not take."""
    files: list[str] = []
    mode = "not started"
    for line in (line.rstrip("\r") for line in patch.split("\n")):
        trimmed = trim(line, RUST)
        if mode == "not started":
            if trimmed != "*** Begin Patch":
                return files
            mode = "started"
            continue
        if trimmed == "*** End Patch":
            return files
        header = next((word for word in ("Add", "Delete", "Update") if is_codex(trimmed, word)), "")
        if header:
            files.append(trimmed[len(f"*** {header} File: ") :])
            mode = header
        elif mode == "Update" and trimmed.startswith("*** Move to: "):
            files.append(trimmed[len("*** Move to: ") :])
        elif (mode, line[:1]) not in CODEX_LINES and not trimmed.startswith("@@"):
            return files
    return files


def is_codex(trimmed: str, word: str) -> bool:
    return trimmed.startswith(f"*** {word} File: ")


CODEX_LINES = {("Add", "+"), ("Update", ""), ("Update", " "), ("Update", "+"), ("Update", "-")}


def older_codex_moves(patch: str) -> list[str]:
    """Once, the target of a move was taken as it stood, blanks and all."""
    _begin, *lines = [line.removesuffix("\r") for line in trim(patch, RUST).split("\n")]
    marker = "*** Move to: "
    return [line[len(marker) :] for line in lines if line.startswith(marker)]


def opencode_files(patch: str) -> list[str]:
    files: list[str] = []
    lines = trim(patch, JAVASCRIPT).split("\n")
    marks = [trim(line, JAVASCRIPT) for line in lines]
    if "*** Begin Patch" not in marks or "*** End Patch" not in marks:
        return files
    first, last = marks.index("*** Begin Patch"), marks.index("*** End Patch")
    for at in range(first + 1, last):
        files += [
            trim(lines[at][len(marker) :], JAVASCRIPT)
            for marker in ("*** Add File:", "*** Delete File:", "*** Update File:", "*** Move to:")
            if lines[at].startswith(marker)
        ]
    return [file for file in files if file]
