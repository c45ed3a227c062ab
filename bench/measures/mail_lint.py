"""Linting messages: long markdown of every kind of block, and a message full of deltas."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure, ratio
from bench.ground import Ground
from bench.rounds import rate, take_turns
from moot.protocols.mail.message_rules import lint_message

_PROSE = """## Point {number}

I read the plan again. Two points remain open, and *one* of them matters:

- the session token is checked twice
- the cache may be older than the ledger, which is the case whenever a process was
  stopped between the two writes and nobody has looked since

> the cache is never older than one minute

```python
def check(token: str) -> bool:
    return token in known
```

Whether that holds is for the test to say: it fills the cache, stops the process and
looks at what is left. Until then I would not rely on it.

<!-- confidence: 0.85 -->

"""
_DELTA = """```delta
{{
  "operation": "ADD",
  "section": "hypothesis_slate",
  "target_id": null,
  "payload": {{
    "name": "Hypothesis {number}",
    "claim": "The state is inherited with the chromatin, and not with the cytoplasm",
    "mechanism": "Marks on histones are copied at each division by the same enzymes",
    "anchors": ["§42", "§43"]
  }},
  "rationale": "None of the others explains what §42 says about the third generation"
}}
```

"""
_HEAD = "# Work Handoff\n\n## Item\nauth-7\n\n## From\namber-otter\n\n## To\nteal-crane\n\n"


def measure(ground: Ground) -> Iterator[Figure]:
    count = ground.pick(4_000, 1_000)
    prose = _HEAD + "".join(_PROSE.format(number=number) for number in range(count))
    deltas = "# Delta Contribution\n\n" + "".join(_DELTA.format(number=n) for n in range(count))
    yield _figure(ground, "Linting a message", "HANDOFF: auth-7 to teal-crane", prose)
    yield _figure(ground, "Linting deltas", "DELTA[opus]: many", deltas)


def _figure(ground: Ground, name: str, subject: str, text: str) -> Figure:
    size = len(text.encode()) / 1e6

    def linted(_: int) -> None:
        lint_message(subject, text)

    def split(_: int) -> None:
        for _line in text.splitlines():
            pass

    rounds = take_turns(rate(linted, 1), rate(split, 1), ground.pick(9, 5))
    ours = [size * passes for passes in rounds.ours]
    raw = [size * passes for passes in rounds.raw]
    return ratio(name, "MB/s", ours, raw, against="splitlines")
