"""`moot report` and `moot receipt`: a result as a page, and as a file that anyone can verify."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click
from msgspec import UNSET

from moot.api.decisions import operations
from moot.api.page import report_site, reports
from moot.core.text import plural
from moot.pages import to_markdown
from moot.surfaces.terminal.answer import Answer, visible
from moot.surfaces.terminal.output import OutputPath, output_option
from moot.surfaces.terminal.page import (
    answer_and_open,
    open_in_browser,
    open_option,
    openable,
    require_form,
)
from moot.surfaces.terminal.shell import Shell, command


@command(None, "report", "report")
@click.argument("named", metavar="[ID]", required=False)
@click.option("--all", "everything", is_flag=True, help="Everything, with an index, in a folder.")
@click.option(
    "-o",
    "--output",
    type=OutputPath(),
    metavar="FILE",
    help="Also write it as a page: FILE.html, FILE.md or FILE.json; with --all a folder.",
)
@open_option
def report(
    shell: Shell, named: str | None, everything: bool, output: Path | None, open_it: bool
) -> Answer:
    """Report on a decision, debate, parliament, trace or path, by its id.

    Shows the result and its reasons, every dissent in full, and the steps that led there. Without
    -o it is printed as markdown. It is made from the record, so a file that was changed since does
    not change it. With --all every page is written to a folder, with links and an index.

    Examples:
      moot report q-7
      moot report parl-20260218-001 -o bill.html --open
      moot report t1 -o t1.md
      moot report --all -o site
    """
    if (named is None) != everything:
        raise click.UsageError("give an ID, or --all")
    if everything:
        return _report_all(shell, output, open_it)
    assert named is not None
    return answer_and_open(lambda file: _report_one(shell, named, file), output, open_it)


def _report_all(shell: Shell, folder: Path | None, open_it: bool) -> Answer:
    if folder is None or folder.is_file():
        raise click.UsageError("--all writes many pages: name a folder with -o")
    site = report_site.report_all(shell.session, folder)
    if open_it:
        open_in_browser(Path(site.file))
    return Answer(site, lambda: _site_lines(site))


def _report_one(shell: Shell, named: str, file: Path | None) -> Answer:
    if file is not None:
        _require_page(file)
    page = reports.report(shell.session, named, file=file)
    return Answer(page, lambda: _page_lines(page))


def _require_page(file: Path) -> None:
    if file.is_dir() or str(file) == "-":
        raise click.UsageError(f"-o {file}: name a file, or write everything with --all")
    require_form(file)


def _page_lines(page: reports.ReportPage) -> Iterable[str]:
    if page.report is UNSET:
        return [f"{page.file}: {page.verdict}"]
    return to_markdown(page.report).splitlines()


def _site_lines(site: report_site.ReportSite) -> Iterable[str]:
    yield f"{plural(len(site.pages), 'page')} in {site.folder}; begin with {site.file}"
    yield from (visible(f"not drawn: {each.id}: {each.why}") for each in site.undrawn)


@command(None, "receipt", "receipt")
@click.argument("decision", metavar="ID")
@output_option(
    "FILE.json can be verified; FILE.md or FILE.html is for reading, with FILE.json next to it.",
    required=True,
    also=(".json", ".intoto.jsonl"),
    accept=require_form,
)
@click.option("--in-toto", is_flag=True, help="Also FILE.intoto.jsonl, for in-toto's tools.")
@click.option("--commit", metavar="REV", help="The statement also names this commit.")
@openable
def receipt(shell: Shell, decision: str, output: Path, in_toto: bool, commit: str | None) -> Answer:
    """Write the receipt of a decision: who voted what, who disagreed, and the proof of it.

    The JSON file holds the whole receipt and the signed record it rests on; anyone can check it
    offline. The markdown is a decision record to keep in your repository, dissent included. The
    ledger's own key signs the receipt's content, which is recorded once.

    --in-toto also writes an in-toto Statement (v1), in a signed DSSE envelope, for other tools. It
    is about the files of the receipt, and about a commit if you name one.

    Examples:
      moot receipt q-7 -o docs/decisions/queue.md
      moot receipt q-7 -o queue.html
      moot receipt q-7 -o queue.json
      moot receipt q-7 -o queue.md --in-toto --commit HEAD
    """
    written = operations.receipt(shell.session, decision, output, in_toto=in_toto, commit=commit)
    return Answer(written, lambda: _receipt_lines(written))


def _receipt_lines(written: operations.WrittenReceipt) -> Iterable[str]:
    yield visible(f"{written.decision}: {written.stage}: {written.title}")
    dissent = ", ".join(written.dissent)
    yield f"dissent kept: {dissent}" if dissent else "nobody disagreed in the last vote"
    for caution in written.cautions:
        yield visible(f"note: {caution}")
    if written.file != written.proof:
        yield f"written to {written.file}"
    yield f"proof in {written.proof}, sha256 {written.sha256}"
    if written.in_toto is not None:
        yield f"in-toto statement in {written.in_toto}"
    yield f"check it with `moot verify {written.proof}`"
