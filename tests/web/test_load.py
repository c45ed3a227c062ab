"""A hundred listeners while thirty processes write: nothing is lost, everyone hears the last."""

from __future__ import annotations

import subprocess
import threading

import pytest

from tests.project import MOOT, Project
from tests.web.server import Visitor

LISTENERS, WRITERS, LONGEST = 100, 30, 240


@pytest.mark.thorough
def test_a_hundred_listen_while_thirty_processes_write(project: Project, visitor: Visitor) -> None:
    ready, failed = threading.Semaphore(0), []
    counts: list[int] = []

    def listen() -> None:
        """Read the mail again whenever it changed, until all of it is there."""
        try:
            with visitor.listen() as listener:
                listener.frame()
                ready.release()
                seen = 0
                while seen < WRITERS:
                    if "mail" in listener.changed():
                        seen = len(visitor.get("/api/v1/mail?limit=100").data["messages"])
                counts.append(seen)
        except Exception as error:  # noqa: BLE001 - told by the test itself
            failed.append(repr(error))
            ready.release()

    threads = [threading.Thread(target=listen, daemon=True) for _ in range(LISTENERS)]
    for thread in threads:
        thread.start()
    for _ in threads:
        assert ready.acquire(timeout=LONGEST)
    writers = [
        subprocess.Popen(
            [*MOOT, "--as", "amber-otter", "send", "teal-crane", f"INFO: number {number}"],
            cwd=project.root,
            env=project.env,
            stdout=subprocess.DEVNULL,
        )
        for number in range(WRITERS)
    ]
    assert [writer.wait(timeout=LONGEST) for writer in writers] == [0] * WRITERS
    for thread in threads:
        thread.join(LONGEST)
    assert failed == []
    assert counts == [WRITERS] * LISTENERS
