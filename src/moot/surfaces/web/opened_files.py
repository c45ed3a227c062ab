"""What opens in a tab of its own: a report as its page, a stored file as a download, never inline.

Both are opened by a ticket. A report brings its own policy, which allows its one stylesheet.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from starlette.responses import Response

from moot.api.artifacts import show as show_artifact
from moot.api.reports import report
from moot.core.errors import MootError
from moot.pages import to_html
from moot.pages.style import POLICY
from moot.surfaces.web.answers import HttpAnswer, answer_error, answer_with

if TYPE_CHECKING:
    from moot.pages import Report
    from moot.surfaces.web.readers import Readers

_SHA256: Final = re.compile(r"[0-9a-f]{64}\Z")
OK: Final = 200


async def open_report(readers: Readers, name: str) -> Response:
    """The report of anything that has one, as the page that `moot report` writes."""
    answer = await readers.run(lambda: _make_report(readers, unquote(name)))
    if answer.status != OK:
        return Response(answer.body, answer.status, media_type="application/json")
    policy = f"{POLICY}; frame-ancestors 'none'"
    return Response(
        answer.body,
        media_type="text/html; charset=utf-8",
        headers={"content-security-policy": policy},
    )


def _make_report(readers: Readers, name: str) -> HttpAnswer:
    try:
        page = report(readers.open_session(), name).report
    except MootError as error:
        return answer_error("report", error)
    shown: Report = page  # type: ignore[assignment]  # given because no file was named
    return HttpAnswer(OK, to_html(shown).encode(), "")


async def draw_report(readers: Readers, name: str) -> HttpAnswer:
    """The same report for the page itself, which shows it in a tree of its own."""
    answer = await readers.run(lambda: _make_report(readers, unquote(name)))
    if answer.status != OK:
        return answer
    _, _, body = answer.body.decode().partition("<body>")  # its style comes from a file of its own
    return answer_with("report", {"html": body.rpartition("</body>")[0]})


async def open_artifact(readers: Readers, name: str) -> Response:
    """A stored file, checked against its hash, to be saved: its bytes are never shown here."""
    answer = await readers.run(lambda: _read_artifact(readers, name))
    if answer.status != OK:
        return Response(answer.body, answer.status, media_type="application/json")
    headers = {
        "content-disposition": f'attachment; filename="{name[:16]}.bin"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(answer.body, media_type="application/octet-stream", headers=headers)


def _read_artifact(readers: Readers, name: str) -> HttpAnswer:
    from moot.surfaces.web import refusals

    if not _SHA256.match(name):
        return answer_error("artifact.show", refusals.nothing_here())
    with tempfile.TemporaryDirectory(prefix="moot-serve-") as folder:
        file = Path(folder, "artifact")
        try:
            show_artifact(readers.open_session(), name, file=file)
        except MootError as error:
            return answer_error("artifact.show", error)
        return HttpAnswer(OK, file.read_bytes(), "")
