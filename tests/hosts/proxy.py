"""A line that can be cut: between a machine and its keeper, before or after what passes."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from pathlib import Path


class CutLine:
    """Passes bytes on in both directions, to a port or a socket. `swallow_answers` ends the line
    instead of passing on the next answer; `swallow_questions` the next question. `pieces_left` ends
    it, once, when so many pieces have passed in either direction. `round_trips` counts how often
    the machine has had to wait: for each new line, and whenever it spoke after an answer."""

    def __init__(self, target: int | Path) -> None:
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self.swallow_answers = False
        self.swallow_questions = False
        self.pieces_left: int | None = None
        self.is_cut = False
        self.lines = 0
        self.round_trips = 0
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
            self.round_trips += 1
            self._was_answer = True
            there = self._reach()
            self._open += [here, there]
            threading.Thread(target=self._pump, args=(here, there, False), daemon=True).start()
            threading.Thread(target=self._pump, args=(there, here, True), daemon=True).start()

    def _reach(self) -> socket.socket:
        if isinstance(self._target, int):
            return socket.create_connection(("127.0.0.1", self._target), 5)
        there = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        there.connect(str(self._target))
        return there

    def _is_swallowed(self, is_answer: bool) -> bool:
        if self.pieces_left is not None:
            self.pieces_left -= 1
            if self.pieces_left < 0:
                self.pieces_left = None
                return True
        wanted = self.swallow_answers if is_answer else self.swallow_questions
        if wanted:
            self.swallow_answers = self.swallow_questions = False
        return wanted

    def _count(self, is_answer: bool) -> None:
        if self._was_answer and not is_answer:
            self.round_trips += 1
        self._was_answer = is_answer

    def _pump(self, source: socket.socket, target: socket.socket, is_answer: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                self._count(is_answer)
                if self._is_swallowed(is_answer):
                    break
                target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def cut(self) -> None:
        """Nobody gets through until `repair`."""
        self.is_cut = True
        for end in self._open:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def repair(self) -> None:
        self.is_cut = False

    def close(self) -> None:
        self.cut()
        self._server.close()
