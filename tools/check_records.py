"""Checks receipts and decision records that stand in a repository, with the stand-alone verifier.

    python check_records.py --trust FILE [--base REVISION] [PATH...]

Needs Python 3.11, PyNaCl and git, and nothing of Moot but `verify/standalone.py`. PATHs are files
or folders (default: the whole repository). With `--base` only what changed since that revision is
looked at, and the trust file is read from there: a change must not bring the keys that prove it.
Exit status: 0 all hold, 1 one does not, 2 wrong usage, 4 something could not be checked.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

STANDALONE: Final = Path(__file__).resolve().parents[1] / "src/moot/verify/standalone.py"
# As a receipt and an export begin: docs/format.md, sections 6 and 8.
_RECEIPT: Final = b'{"format":"moot-receipt/1","record":'
_BUNDLE: Final = re.compile(rb'\{"digest":"[0-9a-f]{64}","format":"moot-bundle/1"')
# As the page of a receipt names the file that proves it.
_PROOF: Final = re.compile(
    r"^- File: `([^`/\\]+\.json)`\n- SHA-256: `([0-9a-f]{64})`$", re.MULTILINE
)
_SECONDS: Final = 600
_HOLDS: Final = 0


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    with tempfile.TemporaryDirectory(prefix="moot-ci-") as folder:
        try:
            trust = _find_trust(options.trust, options.base, Path(folder))
            files = list(_list_files(options.paths, options.base))
        except (OSError, subprocess.SubprocessError) as error:
            print(f"not checked: {error}", file=sys.stderr)
            return 4
        results = [result for file in files for result in check_file(file, trust)]
    for is_good, line in results:
        print(f"{'ok ' if is_good else 'BAD'} {line}")
    print(f"{len(results)} checked, {sum(not is_good for is_good, _ in results)} do not hold")
    return 0 if all(is_good for is_good, _ in results) else 1


def check_file(file: Path, trust: Path) -> Iterator[tuple[bool, str]]:
    """Whether it holds, and a line about it; nothing if it is no record of Moot."""
    with file.open("rb") as stream:
        beginning = stream.read(256)
    if beginning.startswith(_RECEIPT) or _BUNDLE.match(beginning):
        yield _check_record(file, trust)
    elif file.suffix == ".md":
        for name, digest in _PROOF.findall(file.read_text("utf-8", "replace")):
            yield _check_page(file, name, digest)


def _check_record(file: Path, trust: Path) -> tuple[bool, str]:
    done = subprocess.run(
        [sys.executable, str(STANDALONE), str(file), "--trust", str(trust)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=_SECONDS,
    )
    lines = (done.stdout or done.stderr).splitlines()
    return done.returncode == _HOLDS, f"{file}: {lines[0] if lines else 'no answer'}"


def _check_page(page: Path, name: str, digest: str) -> tuple[bool, str]:
    """A page proves nothing by itself: the file it names must be there, and be that one."""
    proof = page.with_name(name)
    if not proof.is_file():
        return False, f"{page}: its proof {name} is not there"
    same = hashlib.sha256(proof.read_bytes()).hexdigest() == digest
    return same, f"{page}: {'names' if same else 'does not name'} {name} as it is"


def _find_trust(name: str, base: str | None, folder: Path) -> Path:
    """The trust file of the base revision; of the disk if there is none."""
    if not base:
        return Path(name).resolve(strict=True)
    trust = folder / "trust.json"
    trust.write_bytes(_git("show", f"{base}:./{name}"))
    return trust


def _list_files(paths: Sequence[str], base: str | None) -> Iterator[Path]:
    words = ("diff", "--name-only", "-z", "--diff-filter=d", f"{base}...HEAD", "--")
    named = ("ls-files", "-z", "--") if not base else words
    for name in sorted(filter(None, _git(*named, *paths).split(b"\0"))):
        file = Path(name.decode("utf-8", "surrogateescape"))
        if file.is_file() and not file.is_symlink():
            yield file


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], capture_output=True, check=True, timeout=_SECONDS).stdout


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Checks receipts and decision records.")
    parser.add_argument("paths", nargs="*", help="files or folders (default: all)")
    parser.add_argument("--trust", required=True, help="the trust file, from the repository's root")
    parser.add_argument("--base", default="", help="only what changed since; trust it alone")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
