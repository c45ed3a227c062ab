"""A program that is started and left to itself: nobody waits for it or reads what it prints."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence


def start_detached(words: Sequence[str], more_env: Mapping[str, str]) -> bool:
    """Start a program in a session of its own, so that it outlives us; False if it cannot start."""
    try:
        process = subprocess.Popen(
            list(words),
            env={**os.environ, **more_env},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return False
    process.returncode = 0  # it is nobody's child to be waited for
    return True
