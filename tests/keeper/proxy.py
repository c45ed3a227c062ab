"""A line that can be cut: between a machine and its keeper, before or after what passes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class CutLine:
    """Passes bytes on in both directions. `cut_after_question` ends the line once that many pieces
    went to the keeper since; `cut_before_answer` keeps what comes back to itself and ends it."""

    def __init__(self, port: int) -> None:
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self.swallow_answers = False
        self.is_cut = False
        self.lines = 0
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._server.accept()
            except OSError:
                return
            if self.is_cut:
                here.close()
                continue
            self.lines += 1
            there = socket.create_connection(("127.0.0.1", self._target), 5)
            self._open += [here, there]
            threading.Thread(target=self._pump, args=(here, there, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(there, here, True), daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if is_answer and self.swallow_answers:
                    self.swallow_answers = False
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self) -> None:
        """Nobody gets through until `mend`."""
        self.is_cut = True
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self._server.close()
