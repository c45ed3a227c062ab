"""A process that checks one bundle and says how much memory it needed at most, in megabytes.

python -m bench.checker BUNDLE TRUST
"""

from __future__ import annotations

import resource
import sys
from pathlib import Path

from bench.measures.verifying import check


def main(bundle: str, trust: str) -> None:
    check(Path(bundle), Path(trust))
    # Linux counts in kilobytes, macOS in bytes.
    scale = 1e6 if sys.platform == "darwin" else 1e3
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale)


if __name__ == "__main__":
    main(*sys.argv[1:])
