"""`python -m bench.peers`: install, measure in turns, keep page, picture and rows."""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import msgspec

from bench.peers import page
from bench.peers.driver_process import DriverFailed
from bench.peers.environments import (
    copy_checkout,
    describe,
    environment_python,
    find_pythons,
    install,
)
from bench.peers.interleaving import Contender, Limits, ask_for_offers, measure_question
from bench.peers.peers import MOOT, MOOT_MCP, PEERS, ROOT, Peer
from bench.peers.questions import BY_NAME, QUESTIONS
from bench.peers.rows import Environment, Row, Run
from moot.pages import to_html, to_markdown

BUILD: Final = ROOT / "build" / "peers"
DOCS: Final = ROOT / "docs"
_INSTALLING_AT_ONCE: Final = 2


def main() -> int:
    options = _options()
    if not options.again:
        _keep_run(_measure(options))
    run = msgspec.json.decode((BUILD / "rows.json").read_bytes(), type=Run)
    text = _keep_page(run, has_docs=options.docs)
    print(text, f"\nkept in {BUILD.parent.name}/{BUILD.name}", sep="\n")
    return 0


def _measure(options: argparse.Namespace) -> Run:
    began = time.monotonic()
    wanted = [peer for peer in PEERS if _is_wanted(peer, options.peer)]
    environments = install_all(wanted, BUILD / "environments", options.installed)
    with tempfile.TemporaryDirectory(prefix="moot-peers-") as name:
        folder = Path(name).resolve()
        contenders, environments = _find_contenders(wanted, environments, folder)
        rows: list[Row] = []
        for question in options.measure or [question.name for question in QUESTIONS]:
            print(f"  {question} ...", file=sys.stderr, flush=True)
            rows += measure_question(question, contenders, folder, options.rounds)
    minutes = (time.monotonic() - began) / 60
    return Run(
        machine=_describe_machine(),
        minutes=minutes,
        rounds=options.rounds,
        environments=environments,
        rows=rows,
        note=options.note,
        has_installed=not options.installed,
    )


def _is_wanted(peer: Peer, chosen: Sequence[str] | None) -> bool:
    return not chosen or peer.name in (MOOT, MOOT_MCP, *chosen)


def install_all(peers: Sequence[Peer], folder: Path, reuse: bool) -> list[Environment]:
    """One environment for each package, two at once; peers of one package share it."""
    pythons = find_pythons()
    packages = {peer.package: peer for peer in peers}

    def prepare(peer: Peer) -> Environment:
        place = folder / peer.package
        if reuse and environment_python(place).exists():
            return describe(peer, place)
        print(f"  installing {peer.package} ...", file=sys.stderr, flush=True)
        if peer.package == MOOT:
            copied = copy_checkout(ROOT, BUILD / "checkout")
            return install(peer._replace(requirement=str(copied)), place, pythons)
        return install(peer, place, pythons)

    with ThreadPoolExecutor(_INSTALLING_AT_ONCE) as pool:
        made = dict(zip(packages, pool.map(prepare, packages.values()), strict=True))
    return [msgspec.structs.replace(made[peer.package], peer=peer.name) for peer in peers]


def _find_contenders(
    peers: Sequence[Peer], environments: Sequence[Environment], folder: Path
) -> tuple[list[Contender], list[Environment]]:
    """Those that installed and whose driver says what it offers; else why not."""
    contenders, known = [], []
    for peer, environment in zip(peers, environments, strict=True):
        failure = environment.failure
        if not failure:
            try:
                place = folder / peer.name / "offers"
                contenders.append(ask_for_offers(peer.name, _command(peer), place, Limits()))
            except DriverFailed as error:
                failure = f"driver: {error}"
        if failure:
            print(f"  {peer.name}: {failure}", file=sys.stderr, flush=True)
        known.append(msgspec.structs.replace(environment, failure=failure))
    return contenders, known


def _command(peer: Peer) -> Callable[[str], list[str]]:
    python = environment_python(BUILD / "environments" / peer.package)
    return lambda question: [str(python), "-m", f"bench.peers.drivers.{peer.driver}", question]


def _describe_machine() -> str:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    system = f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}"
    return f"{os.cpu_count()} processors, {memory:.0f} GiB, {system}"


def _keep_run(run: Run) -> None:
    BUILD.mkdir(parents=True, exist_ok=True)
    (BUILD / "rows.json").write_bytes(msgspec.json.format(msgspec.json.encode(run)) + b"\n")


def _keep_page(run: Run, *, has_docs: bool) -> str:
    report, picture = page.build_report(run), page.draw_picture(run)
    text = to_markdown(report)
    files = {"peers.md": text, "peers.html": to_html(report), "peers.svg": picture}
    for name, content in files.items():
        (BUILD / name).write_text(content, encoding="utf-8")
    if has_docs:
        (DOCS / "peers.md").write_text(with_picture(text), encoding="utf-8")
        (DOCS / "peers.json").write_bytes((BUILD / "rows.json").read_bytes())
        (DOCS / "pictures" / "peers.svg").write_text(picture, encoding="utf-8")
    return text


def with_picture(text: str) -> str:
    """The picture stands above the first section."""
    head, mark, rest = text.partition("\n## ")
    picture = "![Each question beside Moot, less is better](pictures/peers.svg)"
    return f"{head.rstrip()}\n\n{picture}\n{mark}{rest}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    names = [peer.name for peer in PEERS]
    parser.add_argument("--peer", action="append", choices=names, help="only these beside Moot")
    parser.add_argument("--measure", action="append", choices=list(BY_NAME), help="only this")
    parser.add_argument("--rounds", type=int, default=7, help="how many each (default 7)")
    parser.add_argument("--note", default="", help="what else must be said of this run")
    parser.add_argument("--installed", action="store_true", help="use the last environments again")
    parser.add_argument(
        "--again", action="store_true", help="write the page again from the rows kept"
    )
    parser.add_argument("--docs", action="store_true", help="write docs/peers.md and its picture")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
