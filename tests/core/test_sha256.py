"""The hash of a record is SHA-256 whichever library computes it, and light commands load none."""

from __future__ import annotations

import hashlib
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from moot.core.sha256 import LONG, MANY, SHORT, sha256


@given(st.binary(max_size=300))
def test_it_is_the_same_hash(data: bytes) -> None:
    assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()
    assert sha256(memoryview(data)).digest() == hashlib.sha256(data).digest()


def test_long_bytes_have_the_same_hash() -> None:
    for size in (SHORT - 1, SHORT, LONG - 1, LONG, LONG + 1):
        data = b"m" * size
        assert sha256(data).hexdigest() == hashlib.sha256(data).hexdigest()


def test_openssl_is_loaded_for_long_bytes_only() -> None:
    program = f"""
import sys
from moot.core.sha256 import sha256
own = type(sha256(b"short"))
assert type(sha256(bytes({LONG} - 1))) is own
assert "_hashlib" not in sys.modules
assert type(sha256(bytes({LONG}))) is not own
assert "_hashlib" in sys.modules
assert type(sha256(bytes({SHORT} - 1))) is own
assert type(sha256(bytes({SHORT}))) is not own, "it is loaded anyway"
"""
    _run(program)


def test_openssl_is_loaded_by_a_process_that_hashes_event_after_event() -> None:
    program = f"""
import sys
from moot.core.sha256 import sha256
for _ in range({MANY} - 1):
    sha256(bytes({SHORT}))
assert "_hashlib" not in sys.modules
own = type(sha256(b"short"))
assert type(sha256(bytes({SHORT}))) is not own
assert "_hashlib" in sys.modules
"""
    _run(program)


def _run(program: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
