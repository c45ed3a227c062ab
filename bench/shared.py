"""A keeper as a process of its own, and machines that have joined it, all on this one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.ground import keys_of, opened
from moot.core.clock import system_clock
from moot.core.machine import KeyClass
from moot.engine.registry_commands import register
from moot.hosts.joining import Invitation, join_workspace
from moot.hosts.members import MemberFile
from moot.keys.folder import KeyFolder

_LINE = re.compile(r"keeping at (\S+), fingerprint (\S+)")


class SharedGround:
    """A workspace that is kept for others at `address`."""

    def __init__(self, place: Path, keeper: int, address: str, fingerprint: str) -> None:
        """`keeper` is the number of its process."""
        self._place = place
        self._keeper = keeper
        self._address = address
        self._fingerprint = fingerprint

    def processor_seconds(self) -> float:
        """How long processors have worked for the keeper, in all."""
        said = Path(f"/proc/{self._keeper}/stat").read_text().rpartition(")")[2].split()
        return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")

    def join(self, name: str, agents: list[str]) -> Path:
        """A machine of its own, with these agents; `opened` opens it."""
        members = MemberFile(self._place / ".moot" / "keeper")
        number, code = members.invite(system_clock())
        place = self._place.parent / f"{self._place.name}-{name}"
        place.mkdir()
        keys = KeyFolder(keys_of(place))
        invitation = Invitation(self._address, self._fingerprint, number, code)
        join_workspace(place, keys, invitation, name, "")
        with opened(place) as space:
            for agent in agents:
                signer = keys.add_key(space.trust.origin, agent, KeyClass.AGENT)
                register(space.engine, agent, signer, custodian=keys.custodian)
        return place


@contextmanager
def shared(place: Path) -> Iterator[SharedGround]:
    """Keep the ledger of this workspace for others, over TLS on loopback."""
    keeper = subprocess.Popen(
        [sys.executable, "-m", "moot", "keep", "--listen", "127.0.0.1:0"],
        cwd=place,
        env={**os.environ, "MOOT_KEYS": str(keys_of(place)), "MOOT_HOME": str(place)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert keeper.stdout is not None
        found = _LINE.search(keeper.stdout.readline())
        assert found is not None
        yield SharedGround(place, keeper.pid, found[1], found[2])
    finally:
        keeper.send_signal(signal.SIGTERM)
        keeper.communicate(timeout=60)
