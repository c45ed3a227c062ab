"""SHA-256 without OpenSSL: to load that takes longer than to hash what most commands hash.

For long bytes OpenSSL is several times as fast, which makes up for loading it; where it is loaded
anyway, as in a server, for all but the shortest. Whoever hashes files piece by piece takes
`hashlib` itself.
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

SHORT: Final = 8_192
LONG: Final = 1_000_000


def sha256(data: bytes | memoryview) -> _Hash:
    """As `hashlib.sha256`, of all of it at once."""
    if len(data) < SHORT or (len(data) < LONG and "_hashlib" not in sys.modules):
        return _compiled(data)
    from hashlib import sha256 as fast

    return fast(data)
