"""A keeper of the same version of the line that was made before some of its questions."""

from __future__ import annotations

from typing import Final

import msgspec

from moot.hosts import messages as wire

_KNOWN = (
    wire.Hello
    | wire.Join
    | wire.CopyPosition
    | wire.Commit
    | wire.TakeTurn
    | wire.SendHeartbeat
    | wire.ApplyTimeouts
    | wire.MakeCheckpoint
    | wire.UploadPiece
    | wire.DownloadPiece
)
# In the place of what `_question_decoder` gives: it cannot even read what came later.
OLDER: Final[msgspec.msgpack.Decoder[object]] = msgspec.msgpack.Decoder(_KNOWN)
