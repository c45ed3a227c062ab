"""Talking to a program that takes and gives one JSON object a line, such as a server on its pipes.

It is started for a few questions and ended after the last answer.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any


def converse(
    command: Sequence[str],
    lines: Sequence[Mapping[str, Any]],
    *,
    env: Mapping[str, str],
    last: int,
    seconds: float,
    folder: Path | None = None,
) -> dict[int, dict[str, Any]]:
    """Answers by id, read until that of `last`; fewer if the program ended or time was over.

    OSError if it cannot be started, ValueError if it says something that is no JSON.
    """
    replies: dict[int, dict[str, Any]] = {}
    with subprocess.Popen(
        list(command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=dict(env),
        cwd=folder,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        limit = threading.Timer(seconds, server.kill)
        limit.start()
        try:
            server.stdin.write("".join(json.dumps(line) + "\n" for line in lines))
            server.stdin.flush()
            for text in server.stdout:
                answer = json.loads(text)
                if isinstance(answer.get("id"), int) and "method" not in answer:
                    replies[answer["id"]] = answer
                if last in replies:
                    break
        finally:
            limit.cancel()
            server.kill()
    return replies
