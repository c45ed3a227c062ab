"""What a command leaves out when it starts is there as soon as somebody asks for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import sys
from moot.surfaces.cli import entry
entry._start_lightly()
import click, datetime, msgspec, pathlib
left_out = {"uuid", "urllib.parse", "inspect", "gettext", "platform", "msgspec.inspect"}
print(sorted(left_out & set(sys.modules)))
print(pathlib.Path("/a b").as_uri())
print("properties" in str(msgspec.json.schema(msgspec.defstruct("S", [("a", int)]))))
import msgspec.inspect, inspect, uuid, decimal, urllib.parse
print(type(msgspec.inspect.type_info(int)).__name__, inspect.isclass(int), uuid.uuid4().version)
print(msgspec.json.encode(decimal.Decimal("1.5")), urllib.parse.quote("a b"))
print(msgspec.json.encode(datetime.datetime(2026, 1, 2)), click.UUID("0" * 32))
"""


def test_what_was_left_out_is_loaded_when_it_is_asked_for() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "[]",
        "file:///a%20b",
        "True",
        "IntType True 4",
        "b'\"1.5\"' a%20b",
        "b'\"2026-01-02T00:00:00\"' 00000000-0000-0000-0000-000000000000",
    ]


# What waits for the end of a program is not left out because a command leaves at once.
_WAITING = """
import atexit, sys, threading
{what}
sys.argv = ["moot", "--version"]
from moot.surfaces.cli.entry import main
main()
"""
_AT_EXIT = "atexit.register(lambda: print('at the end'))"
_THREAD = """
def wait():
    threading.main_thread().join()
    print("at the end")
threading.Thread(target=wait).start()
"""


@pytest.mark.parametrize("what", [_AT_EXIT, _THREAD], ids=["at exit", "thread"])
def test_what_waits_for_the_end_still_happens(what: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WAITING.format(what=what)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "at the end"
    assert done.stdout.startswith("moot")
