"""Names for sessions: an adjective and a noun, such as amber-otter (section 3.3).

OPR-014, OPR-016: a generated name has this form and was never used before. It comes from a hash of
the project and a counter, so that the same ledger proposes the same name again (B-23, B-36).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import Final

from moot.core.sha256 import sha256

_ADJECTIVES: Final = """
    amber agile airy ample azure balmy bold bright brisk bronze calm candid cedar clear cobalt
    copper coral cosy crisp crystal daring dapper deft dewy eager early earnest easy ebony fair
    fleet fond frosty gentle gilded glad golden grand green hardy hazel honest humble indigo ivory
    jade jolly keen kind lilac lively loyal lucid lunar maple mellow merry mild mint misty modest
    nimble noble olive opal patient pearl placid plucky polar proud quick quiet radiant rosy ruby
    rustic sage scarlet serene silver sincere smooth snowy solar spry stout sturdy sunny swift
    tawny teal tidy topaz tranquil trusty upbeat velvet violet vivid warm wise witty
"""
_NOUNS: Final = """
    acorn alder anchor aspen aurora badger bay beacon birch bison bluff breeze bridge brook canyon
    cedar cliff clover comet condor cove crane creek cricket curlew cypress dale delta dolphin dove
    dune eagle elm ember falcon fern finch fjord forest fox gannet garden geyser glacier glade grove
    gull harbor hare harvest hawk heath heron hill ibis inlet island jay juniper kestrel lagoon lake
    lantern lark laurel linden lynx marmot marsh marten meadow mesa moon moor moss nebula oak oasis
    ocean orchard orchid osprey otter owl peak pebble pine plover pond prairie puffin quail rain
    raven reef ridge river robin salmon seal sparrow spruce starling stream summit swan thicket
    thrush tide trail tundra valley walnut willow wren
"""
ADJECTIVES: Final = tuple(_ADJECTIVES.split())
NOUNS: Final = tuple(_NOUNS.split())
ADJECTIVE_NOUN: Final = r"[a-z]+-[a-z]+"


def make_name(project: str, number: int) -> str:
    """Return name number `number` of a project, which is always the same."""
    digest = sha256(f"{project}\n{number}".encode("utf-8", "surrogatepass")).digest()
    pick = int.from_bytes(digest[:8], "big")
    pick, noun = divmod(pick, len(NOUNS))
    return f"{ADJECTIVES[pick % len(ADJECTIVES)]}-{NOUNS[noun]}"


def make_fresh_name(project: str, taken: Iterable[str]) -> str:
    """Return the first name of the project that was never used, ignoring case."""
    used = {name.lower() for name in taken}
    tries = 8 * len(ADJECTIVES) * len(NOUNS)
    for number in range(len(used), len(used) + tries):
        name = make_name(project, number)
        if name not in used:
            return name
    return _fresh_longer(project, used)


def _fresh_longer(project: str, used: set[str]) -> str:
    """Return a name with a second noun, after all pairs are used."""
    number = len(used)
    while True:
        name = make_name(project, number) + make_name(project, -number).partition("-")[2]
        if name not in used:
            return name
        number += 1


def is_adjective_noun(name: str) -> bool:
    return re.fullmatch(ADJECTIVE_NOUN, name) is not None


# Families of names: alice, alice-2, alice-3 are sessions that a user started with one name.
#
# A family is a label, not an identity: each member has its own name, key and work. It follows from
# the names alone, so the record has nothing about it.

_NUMBERED: Final = re.compile(r"(.+)-([2-9]|[1-9][0-9]+)\Z")


def family_of(name: str, registered: Collection[str]) -> str:
    """Return the name without its number if that name is registered, else the name itself."""
    numbered = _NUMBERED.match(name)
    return numbered[1] if numbered is not None and numbered[1] in registered else name


def list_family(name: str, registered: Collection[str]) -> tuple[str, ...]:
    """List the family that `name` belongs to: the name without a number first, then by number."""
    family = family_of(name, registered)
    numbered = (_NUMBERED.match(other) for other in registered)
    numbers = sorted(
        int(match[2]) for match in numbered if match is not None and match[1] == family
    )
    first = (family,) if family in registered else ()
    return (*first, *(f"{family}-{number}" for number in numbers))


def next_in_family(name: str, registered: Collection[str]) -> str:
    """Return the first name of the family that was never used."""
    family, number = family_of(name, registered), 2
    while f"{family}-{number}" in registered:
        number += 1
    return f"{family}-{number}"
