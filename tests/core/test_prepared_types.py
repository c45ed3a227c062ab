"""Several threads that first read into a type at the same moment."""

from __future__ import annotations

import subprocess
import sys

import msgspec

from moot.core.paged_map import _prepared, decode_state, encode_state

SECONDS = 60
# Without the lock this crashes the process within the first few types.
READ_IN_FOUR_THREADS = """
import sys, threading, msgspec
from moot.core.paged_map import prepare_type

sys.setswitchinterval(1e-6)
texts = {f"field_{number}": "x" for number in range(30)}

def make_type(number):
    inner = msgspec.defstruct(f"Inner{number}", [(name, "str | None") for name in texts])
    return msgspec.defstruct(f"Outer{number}", [("first", str), ("inner", inner), ("last", str)])

def read(kind, start, values):
    start.wait()
    prepare_type(kind)
    values.append(msgspec.convert({"first": "a", "inner": texts, "last": "b"}, kind))

for number in range(200):
    kind, start, values = make_type(number), threading.Barrier(4), []
    threads = [threading.Thread(target=read, args=(kind, start, values)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 4 and all(value.last == "b" for value in values)
print("all were read")
"""


def test_four_threads_may_read_into_a_new_type_at_once() -> None:
    done = subprocess.run(
        [sys.executable, "-c", READ_IN_FOUR_THREADS],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "all were read\n"), done.stderr


def test_a_state_is_read_into_a_type_that_was_learned_under_the_lock() -> None:
    kind = msgspec.defstruct("State", [("count", int)])
    assert decode_state(kind, encode_state(kind(3))) == kind(3)
    assert kind in _prepared
