"""Reading Markdown line by line with its blocks known, against merely splitting lines."""

from __future__ import annotations

from collections.abc import Iterator

from bench.figure import Figure, ratio
from bench.ground import Ground
from bench.rounds import rate, take_turns
from moot.core.markdown import scan_lines

_ENTRY = """## Round {number}: amber-otter

I read the plan again. Two points remain open, and *one* of them matters:

- the session token is checked twice
- the cache may be older than the ledger

> the cache is never older than one minute

```python
def check(token: str) -> bool:
    return token in known
```

<!-- confidence: 0.85 -->

"""


def measure(ground: Ground) -> Iterator[Figure]:
    text = "".join(_ENTRY.format(number=number) for number in range(ground.pick(2_000, 500)))
    size = len(text.encode()) / 1e6

    def scanned(_: int) -> None:
        for _line in scan_lines(text):
            pass

    def split(_: int) -> None:
        for _line in text.splitlines():
            pass

    rounds = take_turns(rate(scanned, 1), rate(split, 1), ground.pick(9, 5))
    yield ratio(
        "Markdown scan",
        "MB/s",
        [size * passes for passes in rounds.ours],
        [size * passes for passes in rounds.raw],
        against="splitlines",
    )
