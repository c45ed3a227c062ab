"""SHA-256 without loading OpenSSL, which takes longer than all hashing of most commands.

OpenSSL is several times as fast on long inputs. So it is used where it is loaded already, for an
input of `LONG` bytes or more, and after a process has hashed `MANY` events. To hash a file in
pieces, use `hashlib` directly.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hashlib import _Hash
    from hashlib import sha256 as _compiled
else:
    try:  # Python's own code, in `_sha2` since 3.12; some distributions leave it out
        from _sha2 import sha256 as _compiled
    except ImportError:
        try:
            from _sha256 import sha256 as _compiled
        except ImportError:
            from hashlib import sha256 as _compiled

SHORT: Final = 256  # bytes; every event is longer
LONG: Final = 1_000_000
MANY: Final = 500  # events; hashing so many with OpenSSL saves about the time to load it

_left = MANY  # inputs to hash before OpenSSL is loaded


def sha256(data: bytes | memoryview) -> _Hash:
    """Hash `data` like `hashlib.sha256`."""
    size = len(data)
    if size < SHORT:
        return _compiled(data)
    loaded = sys.modules.get("_hashlib")
    if loaded is not None:
        digest: _Hash = loaded.openssl_sha256(data)
        return digest
    global _left  # noqa: PLW0603 - a race only counts one event less
    _left -= 1
    if size < LONG and _left > 0:
        return _compiled(data)
    from hashlib import sha256 as fast

    return fast(data)
