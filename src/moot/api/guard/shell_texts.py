"""The texts that a shell command hands to its programs, with the folder each program runs in.

A patch may be sent through the shell; its files are relative to where the shell is by then.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from moot.flows.guard.shell.inner_scripts import all_commands, inner_scripts
from moot.flows.guard.shell.script import Surroundings
from moot.flows.guard.shell.values import UNKNOWN


class GivenText(NamedTuple):
    """`folder` is None behind a `cd` that was not understood."""

    text: str
    folder: str | None


def find_given_texts(command: str, folder: str, mark: str) -> list[GivenText]:
    """The arguments and heredocs in `command` that hold `mark`.

    Those that are shell commands again are looked into instead.
    """
    around = Surroundings(folder, variables={"HOME": os.path.expanduser("~")})
    given: list[GivenText] = []
    for simple in all_commands(command, around):
        if any(inner_scripts(simple)):
            continue
        texts = [word.text for word in simple.words]
        texts += [text for each in simple.redirects for text in (each.target.text, each.body)]
        is_known = simple.folder is not None and UNKNOWN not in simple.folder
        place = simple.folder if is_known else None
        given += [GivenText(text, place) for text in texts if mark in text]
    return given
