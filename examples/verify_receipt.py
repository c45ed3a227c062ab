"""Check a decision's receipt without Moot, then print what was decided and who disagreed.
Run it: `python examples/verify_receipt.py decision.json trust.json`; get trust.json another way.
Needs Python, PyNaCl and src/moot/verify/standalone.py, which you can copy next to this program."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

PLACES = (
    Path(__file__).parent / "standalone.py",
    Path(__file__).parents[1] / "src" / "moot" / "verify" / "standalone.py",
)


def load_verifier() -> ModuleType:
    file = next(place for place in PLACES if place.is_file())
    spec = importlib.util.spec_from_file_location("standalone", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["standalone"] = module
    spec.loader.exec_module(module)
    return module


def main(receipt: str, trust: str) -> int:
    report = load_verifier().verify(receipt, trust)
    print("verdict:", report.verdict)
    if report.verdict != "valid":
        return 1
    # Only now is the content worth reading: the ledger's key signed exactly these words.
    content = json.loads(Path(receipt).read_bytes())["says"]
    print("question:", content["question"])
    print("motion:", content["motion"]["text"])
    print("ruling:", content["word"]["word"], "by", content["word"]["by"])
    for each in content["argument"]["dissent"]:
        print("disagrees:", each["agent"])
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
