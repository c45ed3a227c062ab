"""signet-auth: a tool call is signed and put into its audit log, as its quick start shows it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from signet_auth import SigningAgent

from bench.peers.drivers.protocol import (
    A_RECORD,
    Measure,
    Offered,
    millis_each,
    millis_of_process,
    resident_megabytes,
    serve,
)

RECORDS = 1_000
_ONCE = """
from signet_auth import SigningAgent
agent = SigningAgent("otter", signet_dir="signet")
agent.sign("note", params={"text": "begun"}, target="mcp://local")
"""


def make_agent(folder: Path) -> SigningAgent:
    return SigningAgent.create("otter", owner="bench", signet_dir=str(folder / "signet"))


def sign_one(agent: SigningAgent) -> None:
    agent.sign("note", params={"text": A_RECORD}, target="mcp://local")


@contextmanager
def start(folder: Path) -> Iterator[Measure]:
    make_agent(folder)
    yield lambda: millis_of_process([sys.executable, "-c", _ONCE], folder, {})


@contextmanager
def append(folder: Path) -> Iterator[Measure]:
    agent = make_agent(folder)
    yield lambda: millis_each(lambda: sign_one(agent), 50)


@contextmanager
def verify(folder: Path) -> Iterator[Measure]:
    agent = make_agent(folder)
    for _ in range(RECORDS):
        sign_one(agent)

    def check() -> None:
        chain, signatures = agent.audit_verify_chain(), agent.audit_verify_signatures()
        if not (chain.valid and signatures.valid == signatures.total == RECORDS):
            raise RuntimeError(f"not accepted: {chain}, {signatures}")

    yield lambda: millis_each(check, 1) * 1_000 / RECORDS


@contextmanager
def memory(folder: Path) -> Iterator[Measure]:
    sign_one(make_agent(folder))
    yield resident_megabytes


_NOT_SYNCED = "It does not wait for the disk (no fsync)"
OFFERED = {
    "start": Offered(start, "python -c: import, load the key, sign one call, end"),
    "append": Offered(
        append,
        "SigningAgent.sign with its audit log",
        f"Signed and chained. {_NOT_SYNCED}.",
    ),
    "verify": Offered(
        verify,
        "audit_verify_chain, then audit_verify_signatures",
        "The chain of hashes and every signature, with the key that stands in each record.",
    ),
    "memory": Offered(memory, "after one call was signed"),
}

if __name__ == "__main__":
    serve(OFFERED)
