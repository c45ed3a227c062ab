"""The library: what a person or a program can do with Moot, one typed function each.

    with moot.open("path/to/repository", agent="amber-otter") as session:
        moot.api.scopes.reserve(session, ["src/auth"], work="T-7")

Every function takes a `Session` (session.py: who acts, where, on which workspace) and gives back a
frozen Struct, the same one that the command line prints as `data`. Whatever may be refused raises
`moot.MootError` with a stable code and a hint. `operation.py` is the table of all of them.

Command line, hooks and every other way in parse, call this and render; they hold no rules.

What `moot run` does for its program, which has one agent's key and no other (decision 0023):

    runner_lending.py      the key folder and the socket that the program finds
    runner_delegation.py   an operation that needs the ledger's own key goes to the run
    runner_requests.py     what the run answers, as the program's agent and by the same rules
    runner_listening.py    the socket: who may connect, how long, how much
    runner_values.py       arguments and results on their way there and back
    runner_project.py      the files it may touch for its program
    runner_arriving.py     a `moot run` that was started by another one's program
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    """A subject is imported when it is first used: `moot.api.scopes`, `moot.api.mail.sending`."""
    from moot.api.operation import SUBJECTS

    modules = [subject for subject in SUBJECTS if subject.partition(".")[0] == name]
    if not modules:
        raise AttributeError(f"module 'moot.api' has no attribute {name!r}")
    for module in modules:
        import_module(f"moot.api.{module}")
    return import_module(f"moot.api.{name}")
