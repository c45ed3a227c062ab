"""SHA-256 without OpenSSL: to load that takes longer than to hash what most commands hash.

For long bytes OpenSSL is several times as fast, which makes up for loading it; where it is loaded
anyway, as in a server, for a single event already, and so it is for a process that hashes event
after event. Whoever hashes files piece by piece takes `hashlib` itself.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from hashlib import _Hash
    from hashlib import sha256 as _compiled
else:
    try:  # Python's own, since 3.12 in a module with its relatives; a distributor may leave it out
        from _sha2 import sha256 as _compiled
    except ImportError:
        try:
            from _sha256 import sha256 as _compiled
        except ImportError:
            from hashlib import sha256 as _compiled

SHORT: Final = 256  # an event is longer
LONG: Final = 1_000_000
MANY: Final = 500  # events; loading OpenSSL takes about as long as it saves for so many

_left = MANY  # until OpenSSL is loaded


def sha256(data: bytes | memoryview) -> _Hash:
    """As `hashlib.sha256`, of all of it at once."""
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
