"""Reading a shell command ends: in bounded steps, time and memory, whatever the command is.

Beyond the bounds the command is UNREAD, which is refused where others hold anything.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

import moot
from moot.api.guard.shell import script
from moot.api.guard.shell.acts import UNREAD, destructive_acts
from moot.api.guard.shell.first_look import only_reads
from moot.api.guard.shell.script import Surroundings, read_script
from moot.api.guard.shell.values import expand
from moot.core.shell_words import MOST_STEPS, MOST_TEXT, Part, PartKind, Steps, TooComplex
from tests.hooks.hostile_commands import HONEST, HOSTILE, of_size

AROUND = Surroundings("/r/here", "/r", {"HOME": "/home/me"})
SECONDS_ALLOWED = 300  # until a child is killed; what it may really use is bounded by the system
# Packages whose modules a hook loads and gives text that a model wrote.
PACKAGES = ("surfaces/hooks", "api/guard", "api/observed", "api/hook_setup", "coding_tools")
NOT_BY_HOOKS = "coding_tools/starts.py"  # only `moot run` reads settings as a tool does


def steps_for(text: str) -> int:
    """How many steps reading takes; the bound if it ends there."""
    steps = Steps()
    destructive_acts(text, AROUND, steps)
    return min(steps.taken, MOST_STEPS)


@pytest.mark.parametrize("name", HOSTILE)
def test_twice_the_text_is_at_most_about_twice_the_work(name: str) -> None:
    half, whole = (steps_for(of_size(HOSTILE[name], size)) for size in (1_000, 2_000))
    if name not in ("assignments and subshells", "adds and commits", "choices", "empty choices"):
        assert whole <= 3 * half + 1_000
    assert whole <= MOST_STEPS


@pytest.mark.parametrize(
    "text",
    [
        "A=aaaaaaaa;" + "A=$A$A;" * 29 + ">$A; rm a.txt",
        "true;" * 5_001 + "rm a.txt",
        "rm " + "$(" * 20 + "rm a.txt",
        "bash -c 'eval eval eval eval eval eval eval rm a.txt'",
        "find . -exec " * 60 + "rm a.txt",
        "rm a.txt #" + "x" * MOST_TEXT,
        "rm " + "a.txt " * MOST_STEPS,
        "".join(f"git add f{i}; git commit -m x;" for i in range(200)),
    ],
)
def test_beyond_a_bound_the_rest_of_a_command_is_unknown(text: str) -> None:
    assert destructive_acts(text, AROUND)[-1] is UNREAD
    assert not only_reads(text)


def test_what_was_read_before_the_bound_counts() -> None:
    acts = destructive_acts("rm first.txt;" + "true;" * 5_000, AROUND)
    assert [act.name for act in acts] == ["rm", UNREAD.name]


def test_what_is_at_a_bound_is_read() -> None:
    assert len(list(read_script("true;" * 5_000, AROUND))) == 5_000
    assert len(list(read_script("rm " + "$(" * 8 + "rm" + ")" * 8, AROUND))) == 9
    (command,) = read_script("rm f{1..500}", AROUND)
    assert [len(command.words), command.words[-1].text] == [501, "f500"]
    *_, last = read_script("true |" * 60 + "true", AROUND)
    assert len(last.fed_by) == 50


def test_small_bounds_are_kept_to_the_last_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, in little time."""
    assert (script._MOST_COMMANDS, script._MOST_FEEDING) == (5_000, 50)
    monkeypatch.setattr(script, "_MOST_COMMANDS", 3)
    assert len(list(read_script("a; b; c", AROUND))) == 3
    read = read_script("a; b; c; d", AROUND)
    assert [next(read).words[0].text for _ in range(3)] == ["a", "b", "c"]
    with pytest.raises(TooComplex):
        next(read)
    monkeypatch.setattr(script, "_MOST_COMMANDS", 100)
    monkeypatch.setattr(script, "_MOST_FEEDING", 3)
    *_, last = read_script("a | b | c | d | e", AROUND)
    assert [each.words[0].text for each in last.fed_by] == ["d", "c", "b"]
    assert len(list(read_script("a " + "$(a " * 8 + ")" * 8, AROUND))) == 9
    with pytest.raises(TooComplex):
        list(read_script("a " + "$(a " * 9 + ")" * 9, AROUND))


def expand_text(*parts: Part, **values: str) -> tuple[list[str], int]:
    """The words, and the steps that they took."""
    steps = Steps()
    known = {name: (value,) for name, value in values.items()}
    words = expand(parts, known, lambda text: text, steps)
    return [word.text for word in words], steps.taken


def test_every_word_takes_steps_by_its_length() -> None:
    plain, braces = Part(PartKind.TEXT, "a", False), Part(PartKind.TEXT, "{a,b}", False)
    assert expand_text(plain) == (["a"], 1)
    assert expand_text(Part(PartKind.TEXT, "*", True)) == (["*"], 1)
    assert expand_text(Part(PartKind.TEXT, "", True)) == ([""], 1)
    assert expand_text(braces) == (["a", "b"], 4)
    assert expand_text(*[plain] * 16) == (["a" * 16], 22)
    assert expand_text(Part(PartKind.TEXT, "a" * 128, False), plain) == (["a" * 129], 8)
    values: dict[str, tuple[str, ...]] = {str(number): ("",) for number in range(63)}
    state, steps = script._State("/", values), Steps()
    state.stack = ["/"] * 64
    state.copy(steps)
    assert steps.taken == 1 + 2 + 2
    loop = "for A in 1 2 3; do {}+=x; done"
    assert steps_for(loop.format("A")) == steps_for(loop.format("B")) + 2


def test_a_value_of_a_variable_or_a_command_is_bounded_and_text_is_not() -> None:
    most = "a" * (1 << 16)
    assert expand_text(Part(PartKind.VARIABLE, "A", False), A=most)[0] == [most]
    assert expand_text(Part(PartKind.OUTPUT, most, False))[0] == [most]
    assert expand_text(Part(PartKind.OUTPUT, "a b", False))[0] == ["a b"]
    assert expand_text(Part(PartKind.TEXT, most + "[", False))[0] == [most + "["]
    with pytest.raises(TooComplex):
        expand_text(Part(PartKind.VARIABLE, "A", False), A=most + "a")
    with pytest.raises(TooComplex):
        expand_text(Part(PartKind.OUTPUT, most + "a", False))
    words, _steps = expand_text(Part(PartKind.TEXT, "{1..500}", False))
    assert words == [str(number) for number in range(1, 501)]


def test_the_reader_itself_says_so() -> None:
    read = read_script("show a;" + "true;" * 5_000, AROUND)
    assert next(read).words[1].text == "a"
    with pytest.raises(TooComplex):
        list(read)


@pytest.mark.parametrize("text", HONEST.values(), ids=HONEST.keys())
def test_a_long_command_of_an_honest_agent_is_read_to_its_end(text: str) -> None:
    acts = destructive_acts(text + "rm last.txt", AROUND)
    assert UNREAD not in acts
    assert acts[-1].paths[0].text == "last.txt"


def test_more_words_than_are_listed_end_with_an_unknown_one() -> None:
    (command,) = read_script("rm f{1..600}", AROUND)
    assert len(command.words) == 502
    assert not command.words[-1].is_known
    assert command.words[-2].text == "f500"


READING = """
import json, resource, signal
from moot.api.guard import stale_reads
from moot.api.guard.shell.acts import destructive_acts
from moot.api.guard.shell.first_look import only_reads
from moot.api.guard.shell.script import Surroundings
from moot.surfaces.hooks.call import Unreadable
from moot.surfaces.hooks.patches import files_in_shell_patches
from tests.hooks.hostile_commands import HOSTILE, of_size

resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
for name, make in HOSTILE.items():
    for text in (of_size(make, 1 << 16), make(29), make(60)):
        signal.setitimer(signal.ITIMER_VIRTUAL, 10)  # ends the process
        print(json.dumps(name), flush=True)
        only_reads(text)
        destructive_acts(text, Surroundings("/r/here", "/r", {"HOME": "/home/me"}))
        stale_reads.find_printed(text, "/r/here")
        try:
            files_in_shell_patches(text, "/r/here")
        except Unreadable:
            pass
print(json.dumps("done"))
"""


def run_bounded(code: str) -> list[str]:
    """The lines that a process prints, which the system ends if it takes too much."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        timeout=SECONDS_ALLOWED,
        check=False,
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0, (lines[-1:], done.stderr[-2_000:])
    return lines


def test_64_kb_of_anything_are_read_in_bounded_time_and_memory() -> None:
    assert run_bounded(READING)[-1] == "done"


def hook_modules() -> Iterator[ModuleType]:
    base = Path(moot.__file__).parent
    for package in PACKAGES:
        assert (base / package).is_dir(), package
        for file in sorted({*(base / package).rglob("*.py")} - {base / NOT_BY_HOOKS}):
            dotted = ".".join(file.relative_to(base).with_suffix("").parts)
            yield importlib.import_module(f"moot.{dotted}".removesuffix(".__init__"))


def patterns_of(module: ModuleType) -> Iterator[tuple[str, int, bool]]:
    """Every regular expression in its text with its flags, and whether it is searched for, or only
    matched from a beginning. One that is made at run time has the names of its module only, or is
    given here."""
    text = Path(str(module.__file__)).read_text("utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            if isinstance(node.value, ast.Call) and isinstance(target, ast.Name):
                uses = re.findall(rf"(?<!\w){target.id}\.(\w+)", text)
                yield from _pattern(node.value, module, not {*uses} <= {"match", "fullmatch"})
        elif isinstance(node, ast.Call):
            yield from _pattern(node, module, None)


def _pattern(
    call: ast.Call, module: ModuleType, is_searched: bool | None
) -> Iterator[tuple[str, int, bool]]:
    function = call.func
    if not (isinstance(function, ast.Attribute) and getattr(function.value, "id", "") == "re"):
        return
    if function.attr == "escape" or (function.attr == "compile") is (is_searched is None):
        return
    names = {**vars(module), "re": re, **MADE_AT_RUN_TIME}
    given = call.args[: 2 if function.attr == "compile" else 1]
    made, *flags = (eval(compile(ast.Expression(each), "", "eval"), names) for each in given)
    searched = is_searched if is_searched is not None else "match" not in function.attr
    flag = int(flags[0]) if flags else 0
    if isinstance(made, bytes):  # of bytes: the same work on as many letters
        made, flag = made.decode("ascii"), flag | re.ASCII
    yield made, flag, searched


MADE_AT_RUN_TIME = {"letter": "c"}

MATCHING = """
import json, re, signal, sys, time
from tests.hooks.slow_texts import hostile_texts

SIZES = 1 << 12, 1 << 14  # most of those that are slow are so soon

def measure(pattern, text, is_searched):
    signal.setitimer(signal.ITIMER_VIRTUAL, 3)  # ends the process
    began = time.process_time()
    pattern.fullmatch(text)
    pattern.match(text)
    if is_searched:
        pattern.sub("", text)
    return time.process_time() - began

for source, flags, is_searched in json.loads(sys.stdin.read()):
    pattern = re.compile(source, flags)
    for make in hostile_texts(source, flags):
        print(json.dumps([source, make(60)]), flush=True)
        for size in SIZES:
            once = measure(pattern, make(size), is_searched)
            if measure(pattern, make(2 * size), is_searched) > 3 * once + 0.03:
                sys.exit()
print(json.dumps("done"))
"""


def find_slow_pattern(patterns: list[tuple[str, int, bool]]) -> list[str] | str:
    """The pattern, and the text it did not get through; "done" if there is none."""
    done = subprocess.run(
        [sys.executable, "-c", MATCHING],
        cwd=Path(__file__).parents[2],
        input=json.dumps(patterns).encode(),
        capture_output=True,
        timeout=SECONDS_ALLOWED,
        check=False,
    )
    assert done.returncode == 0 or done.returncode < 0, done.stderr
    last: list[str] | str = json.loads(done.stdout.splitlines()[-1])
    return last


def test_no_pattern_on_the_path_of_a_hook_is_slow() -> None:
    """On texts made from its own structure, twice the text is about twice the work: no pattern
    reads a part in more than one way, or reads it again from every place where it may begin."""
    patterns = sorted({each for module in hook_modules() for each in patterns_of(module)})
    assert len(patterns) > 30
    assert find_slow_pattern(patterns) == "done"


@pytest.mark.parametrize(
    "pattern",
    [
        r"\s*(?:(?:ls|cat)(?![\w./-])[^;&|\n`$()]*(?:[;&|\n]+|$)\s*)+",
        r"(?:^|[;&|\n])\s*(?:cat|head)\s+",
        r"'[^']*'|\"(?:[^\"\\]|\\.)*\"",
        r"\benv\b[^;&|\n]*\s(?:-C|--chdir)",
        r"(?:a+)+b",
    ],
)
def test_a_slow_pattern_would_be_found(pattern: str) -> None:
    """Patterns that were on the path once."""
    found = find_slow_pattern([(pattern, 0, True)])
    assert found != "done"
    assert found[0] == pattern
