"""What exactly is run, in one form: the same input gives the same bytes and the same hash.

The input of a run is the canonical JSON of the tool, the argument list, the folder, the names of
variables and the time limit. The values of variables are not part of it.
"""

from __future__ import annotations

from moot.core.canonical import encode_checked
from moot.core.sha256 import sha256

MEDIA_TYPE = "application/vnd.moot.tool-input+json"


def encode_input(
    tool: str, command: tuple[str, ...], cwd: str, env: tuple[str, ...], timeout_ms: int
) -> bytes:
    """The normalised input; Malformed if a text cannot be encoded.

    TRC-032: only texts and one number, so that every JSON library writes the same bytes.
    """
    return encode_checked(
        {
            "command": list(command),
            "cwd": cwd,
            "env": sorted(set(env)),
            "timeout_ms": timeout_ms,
            "tool": tool,
        }
    )


def sha256_hex(data: bytes) -> str:
    return sha256(data).hexdigest()
