"""The benchmark beside others: what drivers may print, how they fail, and the page of it.

The peers here are small scripts: what is tested is how they are held. `make bench-peers` runs the
real ones.
"""

from __future__ import annotations

import os
import select
import sys
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from bench.peers import page
from bench.peers.__main__ import with_picture
from bench.peers.driver_process import DriverFailed, DriverProcess
from bench.peers.environments import copy_checkout, find_pythons, install, last_line
from bench.peers.interleaving import Contender, Limits, ask_for_offers, measure_question
from bench.peers.peers import MOOT, MOOT_MCP, PEERS, Peer
from bench.peers.questions import BY_NAME, QUESTIONS
from bench.peers.rows import (
    Environment,
    Failed,
    Malformed,
    Offer,
    Offers,
    Ready,
    Row,
    Run,
    Value,
    parse_line,
)
from hypothesis import given
from hypothesis import strategies as st

from moot.pages import to_html, to_markdown

QUICK = Limits(ready=20, round=20)
GOOD = """
from contextlib import contextmanager
from bench.peers.drivers.protocol import Offered, serve

@contextmanager
def prepare(folder):
    print("noise that a library prints")
    values = iter([100.0, 3.0, 1.0, 2.0, 9.0])
    yield lambda: next(values)

serve({"append": Offered(prepare, "notes a line", "not signed")})
"""


def script(folder: Path, text: str) -> list[str]:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "driver.py").write_text(text, encoding="utf-8")
    return [sys.executable, str(folder / "driver.py")]


def contender(folder: Path, name: str, text: str) -> Contender:
    words = script(folder / f"{name}-script", text)
    offers = [Offer("append", "program", "notes a line")]
    return Contender(name, offers, lambda question: [*words, question])


# What a driver may print ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        (b'{"type":"ready"}', Ready()),
        (b'{"type":"value","value":1.5}', Value(1.5)),
        (b'{"type":"failed","reason":"no"}', Failed("no")),
        (
            b'{"type":"offers","offers":[{"question":"append","way":"mcp","how":"h"}]}',
            Offers([Offer("append", "mcp", "h")]),
        ),
    ],
)
def test_a_line_of_the_protocol_is_read(line: bytes, meant: object) -> None:
    assert parse_line(line) == meant


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"[]",
        b'{"type":"value"}',
        b'{"type":"value","value":"1"}',
        b'{"type":"value","value":-1}',
        b'{"type":"value","value":1e999}',
        b'{"type":"value","value":NaN}',
        b'{"type":"other"}',
        b'{"type":"offers","offers":[{"question":"dance","way":"mcp","how":""}]}',
        b'{"type":"offers","offers":[{"question":"append","way":"pigeon","how":""}]}',
        b'{"type":"ready"}' + b" " * 200_000,
        b"\xff\xfe",
        b"[" * 50_000,
    ],
)
def test_any_other_line_is_malformed(line: bytes) -> None:
    with pytest.raises(Malformed):
        parse_line(line)


def test_nothing_is_offered_twice_or_explained_at_length() -> None:
    twice = Offers([Offer("append", "mcp", "a"), Offer("append", "mcp", "b")])
    long = Offers([Offer("append", "mcp", "a" * 5_000)])
    for offers in (twice, long):
        with pytest.raises(Malformed):
            parse_line(msgspec.json.encode(offers))


@given(st.binary(max_size=300))
def test_bytes_are_read_or_malformed(line: bytes) -> None:
    with suppress(Malformed):
        assert isinstance(parse_line(line), Ready | Value | Failed | Offers)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "value", "offers", "question"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)


@given(st.sampled_from(["ready", "value", "failed", "offers", "x"]), JSON)
def test_any_json_is_read_or_malformed(kind: str, inside: object) -> None:
    line = msgspec.json.encode({"type": kind, "value": inside, "offers": inside, "reason": inside})
    try:
        answer = parse_line(line)
    except Malformed:
        return
    assert not isinstance(answer, Value) or 0 <= answer.value < float("inf")


# A driver as a process ------------------------------------------------------------------------


def test_a_driver_says_what_it_offers_and_measures_each_round(tmp_path: Path) -> None:
    words = script(tmp_path / "good", GOOD)
    found = ask_for_offers("good", lambda question: [*words, question], tmp_path / "a", QUICK)
    assert found.offers == [Offer("append", "program", "notes a line", "not signed")]
    (row,) = measure_question("append", [found], tmp_path, rounds=3, limits=QUICK)
    assert row.values == [3.0, 1.0, 2.0]  # the first round is to get warm
    assert row.middle == 2.0
    assert not row.failure


def test_one_that_fails_costs_its_own_row_only(tmp_path: Path) -> None:
    crash = "raise SystemExit('ERROR: the disk is made of cheese')"
    failing = GOOD.replace("next(values)", "1 / 0")
    chatter = "print('hello'); input()"
    gone = GOOD.replace("next(values)", "__import__('os')._exit(3)")
    contenders = [
        contender(tmp_path, "crash", crash),
        contender(tmp_path, "failing", failing),
        contender(tmp_path, "good", GOOD),
        contender(tmp_path, "chatter", chatter),
        contender(tmp_path, "gone", gone),
    ]
    rows = measure_question("append", contenders, tmp_path, rounds=2, limits=QUICK)
    failures = {row.peer: row.failure for row in rows}
    assert failures["good"] == ""
    assert failures["crash"] == "ended with code 1: ERROR: the disk is made of cheese"
    assert failures["failing"] == "ZeroDivisionError: division by zero"
    assert failures["chatter"].startswith("not a line of the protocol")
    assert failures["gone"].startswith("ended with code 3")
    assert [row.peer for row in rows if row.values] == ["good"]


def test_one_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    text = """
import signal, subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
open("child", "w").write(str(child.pid))
print('{"type": "ready"}', flush=True)
signal.pause()
"""
    process = DriverProcess(script(tmp_path, text), tmp_path, end_seconds=0.2)
    process.wait_until_ready(QUICK.ready)
    with pytest.raises(DriverFailed, match="no answer within"):
        process.measure_round(0.2)
    watched = os.pidfd_open(int((tmp_path / "child").read_text()))
    assert not has_ended(watched, within=0)
    process.close()
    assert has_ended(watched, within=20)
    os.close(watched)


def has_ended(process: int, within: float) -> bool:
    """A process that was opened becomes readable when it ends."""
    poll = select.poll()  # unlike `select`, of any number of a descriptor
    poll.register(process, select.POLLIN)
    return bool(poll.poll(within * 1_000))


def test_a_driver_sees_a_home_of_its_own_and_no_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_TOKEN", "secret")
    text = """
import json, os
reason = f"{os.environ['HOME']} {'SOME_TOKEN' in os.environ}"
print(json.dumps({"type": "failed", "reason": reason}))
"""
    with (
        DriverProcess(script(tmp_path, text), tmp_path) as process,
        pytest.raises(DriverFailed) as failed,
    ):
        process.wait_until_ready(QUICK.ready)
    assert str(failed.value) == f"{tmp_path / 'home'} False"


# Environments ---------------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_peer_that_does_not_install_is_the_last_line_of_why(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "pyproject.toml").write_text("this is no toml", encoding="utf-8")
    peer = Peer("broken", str(broken), "broken", "none", "")
    environment = install(peer, tmp_path / "environment", [sys.executable], seconds=240)
    assert environment.failure
    assert "\n" not in environment.failure
    assert not environment.version


def test_moot_is_built_from_a_copy_without_what_was_compiled(tmp_path: Path) -> None:
    (tmp_path / "src" / "moot" / "__pycache__").mkdir(parents=True)
    (tmp_path / "src" / "moot" / "__init__.py").write_text("")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (tmp_path / name).write_text(name)
    copied = copy_checkout(tmp_path, tmp_path / "copy")
    found = sorted(str(path.relative_to(copied)) for path in copied.rglob("*") if path.is_file())
    assert found == ["LICENSE", "README.md", "pyproject.toml", "src/moot/__init__.py"]
    assert not (copied / "src" / "moot" / "__pycache__").exists()


def test_no_time_left_and_no_python_are_said_too(tmp_path: Path) -> None:
    peer = Peer("any", "any", "any", "none", "")
    late = install(peer, tmp_path / "a", [sys.executable], seconds=0)
    assert late.failure == "ERROR: no time left to try"
    missing = install(peer, tmp_path / "b", [str(tmp_path / "no-python")], seconds=30)
    assert missing.failure == "ERROR: No such file or directory"
    assert install(peer, tmp_path / "c", []).failure == "no Python starts here"


def test_the_last_error_is_told_without_the_home_of_anyone_who_ran_it() -> None:
    output = f"Collecting\nERROR: cannot read {Path.home()}/x\n[notice] a new release of pip\n"
    assert last_line(output) == "ERROR: cannot read ~/x"
    assert last_line("\n \n") == ""


def test_the_python_that_runs_this_is_among_those_tried() -> None:
    assert os.path.realpath(sys.executable) in find_pythons()


# The page -------------------------------------------------------------------------------------


def fake_run() -> Run:
    rows = [
        Row(MOOT, "append", "program", [1.0, 1.0, 2.0], "send", "signed"),
        Row("quick", "append", "program", [0.5, 0.5, 0.5], "write", "no fsync"),
        Row("slow", "append", "program", [1000.0, 3000.0, 2000.0], "commit | pipe"),
        Row("shy", "append", "program", [], "note", failure="no answer within 60 s"),
        Row(MOOT_MCP, "tools", "mcp", [2_400.0] * 3, "tools/list"),
    ]
    environments = [
        Environment(MOOT, "moot", "0.1.0", "3.12.1", 40, 12),
        Environment("quick", "quick", "1.0", "3.12.1", 10, 3),
        Environment("absent", "absent", failure="ERROR: No matching distribution found"),
    ]
    return Run("2 processors", 3.0, 3, environments, rows)


def test_the_page_shows_what_is_bad_for_us_too() -> None:
    run = fake_run()
    text = to_markdown(page.build_report(run))
    assert "quick 0.50x" in text
    assert "0.50x (0.25 to 0.50)" in text
    assert "2,000 ms" in text
    assert "no fsync" in text
    assert "no answer within 60 s" in text
    assert "ERROR: No matching distribution found" in text
    assert 'make bench-peers ARGS="--measure append"' in text
    assert "<table" in to_html(page.build_report(run))


def test_moot_is_compared_with_others_by_the_same_way_only() -> None:
    rows = fake_run().rows
    assert page.describe_ratio(rows[0], rows) == ""
    by_server = Row("other", "append", "mcp", [5.0], "call")
    assert page.describe_ratio(by_server, [*rows, by_server]) == ""


def test_the_picture_has_every_question_that_others_answered() -> None:
    run = fake_run()
    assert [chart.title for chart in page.list_charts(run)] == ["Append one record, ms"]
    picture = page.draw_picture(run)
    assert picture.startswith("<svg")
    assert "quick, in a program" in picture


def test_a_run_in_which_nobody_else_installed_is_a_page_all_the_same() -> None:
    empty = Run("2 processors", 1.0, 3, [Environment(MOOT, "moot", failure="ERROR: no")], [])
    assert "Nobody else could be measured here." in to_markdown(page.build_report(empty))
    assert page.draw_picture(empty).startswith("<svg")


def test_the_picture_stands_above_the_first_section() -> None:
    text = with_picture("# Title\n\nIntro\n\n## One\n\n## Two\n")
    assert text.index("pictures/peers.svg") < text.index("## One")
    assert text.count("\n## ") == 2


def test_rows_are_kept_and_read_again() -> None:
    run = fake_run()
    assert msgspec.json.decode(msgspec.json.encode(run), type=Run) == run


@pytest.mark.parametrize(
    ("value", "shown"), [(0.0, "0.00"), (0.123, "0.12"), (12.34, "12.3"), (12_345.6, "12,346")]
)
def test_numbers_have_the_digits_that_mean_something(value: float, shown: str) -> None:
    assert page.format_number(value) == shown


# The tables -----------------------------------------------------------------------------------


def test_every_peer_has_its_driver_and_every_question_its_own_name() -> None:
    drivers = Path(page.__file__).parent / "drivers"
    assert all((drivers / f"{peer.driver}.py").is_file() for peer in PEERS)
    assert len({peer.name for peer in PEERS}) == len(PEERS)
    assert len(BY_NAME) == len(QUESTIONS)
