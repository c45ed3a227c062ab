"""The page beside the demonstration: a newcomer opens one address and sees it move."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from moot.api import opening
from moot.surfaces.web.server import Listening, make_server

if TYPE_CHECKING:
    from moot.surfaces.demo.stage import DemoStage

_ENDING_SECONDS: Final = 10.0


class LivePage:
    """A server for the demonstration's own workspace, which may not be there yet."""

    def __init__(self, stage: DemoStage, env: Mapping[str, str]) -> None:
        session = opening.open(stage.repository, keys=stage.keys)
        running = make_server(session, Listening(), env={**env, **stage.settings})
        self.address = running.address
        self._server = running.server
        self._thread = threading.Thread(target=running.run, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until somebody presses Ctrl-C; then it is closed."""
        with suppress(KeyboardInterrupt):
            self._thread.join()
        self._server.should_exit = True
        self._thread.join(_ENDING_SECONDS)
