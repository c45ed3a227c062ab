"""Every `console` block in our pages is run, in order, and prints what the page says it prints.

A page gets a fresh git repository called `shop` and an empty home. Lines that begin with `$ ` are
commands; what follows, up to the next one, is their output. Before comparing, both sides are made
comparable by `comparable`, and by nothing else.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
_BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Step(NamedTuple):
    command: str
    output: str


def steps(page: str) -> list[Step]:
    """All commands of a page with the output it shows for each."""
    found = []
    for block in _BLOCK.findall(page):
        assert block.startswith("$ "), f"a console block begins with a command: {block!r}"
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append(Step(command, output))
    return found


# What differs from run to run, and the word that stands for it.
_VARIES = (
    (re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"), "TIME"),
    (re.compile(r"\b\d{5}( \d{5}){3}\b"), "FINGERPRINT"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "HASH"),
    (re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "UUID"),
    (re.compile(r"\b[0-9a-f]{8}(?=…|\b)"), "KEY"),
    (re.compile(r"(?<!\S)/\S*/(?=(\.moot|keys|demo|shop)\b)"), "PATH/"),
    (re.compile(r"\b\d+(\.\d+)? s ago"), "AGE ago"),
    (re.compile(r"(?<=, )\d+\.\d s\b"), "DURATION"),
    (re.compile(r"\bproto_\d{8}_"), "proto_DAY_"),
    (re.compile(r"\bparl-\d{8}-"), "parl-DAY-"),
    (re.compile(r"\b\d+ bytes"), "SIZE bytes"),
)


def comparable(text: str) -> str:
    """Replace times, ages, durations, days, sizes, fingerprints, hashes, ids, and folders above
    `.moot`, `keys`, `demo` and `shop`.

    White space at the ends of lines and of the whole does not count; all else does.
    """
    for pattern, word in _VARIES:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    place = tmp_path / "shop"
    (place / "src" / "auth").mkdir(parents=True)
    subprocess.run(["git", "init", "--quiet"], cwd=place, env=environment(place), check=True)
    return place


_WHO, _WHAT = ("AUTHOR", "COMMITTER"), ("NAME", "EMAIL")


def environment(place: Path) -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(place.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "you@example.invalid" for who in _WHO for what in _WHAT},
        "LC_ALL": "C.UTF-8",
    }


def run(command: str, place: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=place,
        env=environment(place),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.stdout


def with_blocks() -> list[Path]:
    return [page for page in PAGES if steps(page.read_text("utf-8"))]


def test_the_readme_shows_commands() -> None:
    assert ROOT / "README.md" in with_blocks()


def pages_to_run() -> list[Any]:
    """All pages with blocks; the demonstration is played once elsewhere (`cli/test_demo.py`)."""
    marks = {ROOT / "docs/start/demo.md": pytest.mark.thorough}
    return [pytest.param(page, marks=marks.get(page, ())) for page in with_blocks()]


@pytest.mark.parametrize("page", pages_to_run(), ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_print_what_the_page_says(page: Path, shop: Path) -> None:
    for step in steps(page.read_text("utf-8")):
        assert comparable(run(step.command, shop)) == comparable(step.output), step.command


def test_the_refusal_that_the_readme_quotes_is_what_the_model_reads(shop: Path) -> None:
    page = (ROOT / "README.md").read_text("utf-8")
    before, quoted = re.split(r"^> (?=moot: )", page, maxsplit=1, flags=re.MULTILINE)
    for step in steps(before):
        run(step.command, shop)
    call = {
        "hook_event_name": "PreToolUse",
        "session_id": "1",
        "cwd": str(shop),
        "tool_name": "Write",
        "tool_input": {"file_path": "src/auth/cache.py", "content": "x"},
    }
    (shop.parent / "call.json").write_text(json.dumps(call))
    answer = json.loads(run("MOOT_AGENT=teal-crane moot hook claude < ../call.json", shop))
    assert answer["decision"] == "block"
    assert comparable(answer["reason"]) == comparable(quoted.partition("\n")[0])
    assert not (shop / "src/auth/cache.py").exists()


def test_only_what_varies_is_made_comparable() -> None:
    text = "a /tmp/x y/shop/.moot 00112233… 12345 67890 12345 67890 2026-11-15T04:19:57.392Z 4161"
    assert comparable(f"  {text}  \n\n") == "a /tmp/x y/shop/.moot KEY… FINGERPRINT TIME 4161"
    assert comparable("keys         /home/you/moot/keys") == "keys         PATH/keys"
    assert comparable("sha256 " + "ab" * 32) == "sha256 HASH"
    assert comparable("(debate/2646df8d-6dc8-484e-8b82-4cd6ced2e54f)") == "(debate/UUID)"
    assert comparable("12 events, 3 of 4") == "12 events, 3 of 4"


def test_a_block_is_cut_at_its_commands() -> None:
    page = "x\n```console\n$ one\nout\n\nmore\n$ two\n```\n```\n$ not a console block\n```\n"
    assert steps(page) == [Step("one", "out\n\nmore\n"), Step("two", "")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_is_folded_is_closed_before_the_next_begins(page: Path) -> None:
    """Else everything after it is hidden inside."""
    tags = re.findall(r"</?details>", page.read_text("utf-8"))
    assert tags == ["<details>", "</details>"] * (len(tags) // 2)
