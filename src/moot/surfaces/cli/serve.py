"""`moot serve`: the workspace in the browser, live."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
import msgspec

from moot.core.errors import Refused
from moot.surfaces.terminal.answer import Answer, paint, print_line, say_aside, visible
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.surfaces.web.server import Listening

LOOPBACK: Final = "127.0.0.1"


class Served(msgspec.Struct, frozen=True):
    """That the server has ended, and under which address it was."""

    address: str


@command(None, "serve", "serve")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Default: any free one.")
@click.option("--open", "open_browser", is_flag=True, help="Open it in the browser.")
@click.option(
    "--decide", is_flag=True, help="Take a person's word here, prepared on the page; at a terminal."
)
@click.option("--listen", metavar="ADDRESS", help="Beyond this machine; needs TLS.")
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The certificate for --listen, in PEM.",
)
@click.option(
    "--key",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The key of that certificate, in PEM.",
)
@click.option("--name", "names", multiple=True, metavar="HOST", help="A name in the certificate.")
def serve(
    shell: Shell,
    port: int,
    open_browser: bool,
    decide: bool,
    listen: str | None,
    certificate: Path | None,
    key: Path | None,
    names: tuple[str, ...],
) -> Answer:
    """Show this workspace in the browser while agents work: it prints one address to open.

    What waits for you, who works where and how alive, who blocks whom, what was decided and why,
    and whether the record is intact; without a reload. The page only reads. The address holds a
    secret: whoever has it can look until the server ends. With --decide a person's word is
    prepared on the page and given in this terminal, where the passphrase is asked for; no
    passphrase is ever typed into a page. It ends with Ctrl-C.

    Examples:
      moot serve
      moot serve --open --port 8123
      moot serve --decide
    """
    shell.session.require_workspace()
    listening = _listening(port, listen, certificate, key, names)
    _require_terminal(shell, decide, listen)
    from moot.surfaces.web.server import make_server

    running = make_server(
        shell.session,
        listening,
        env=shell.env,
        decide=decide,
        say=lambda line: say_aside(visible(line)),
    )
    if shell.json:  # standard output is for the one answer at the end
        say_aside(running.address)
    else:
        print_line(running.address, at_once=True)
        say_aside(paint("open this address; Ctrl-C ends it", "dim", sys.stderr))
    if open_browser:
        webbrowser.open(running.address)
    running.run()
    where = running.address.partition("/enter")[0]
    return Answer(Served(where), lambda: [f"{where} is closed"])


def _listening(
    port: int,
    listen: str | None,
    certificate: Path | None,
    key: Path | None,
    names: tuple[str, ...],
) -> Listening:
    from moot.surfaces.web.server import Listening

    if listen is None and (certificate or key or names):
        raise click.UsageError("--certificate, --key and --name belong to --listen")
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key belong together")
    if listen is not None and certificate is None:
        raise Refused(
            "tls_required",
            "beyond this machine everything would be readable on the way",
            hint="add --certificate FILE --key FILE, or leave --listen away",
        )
    if certificate is not None and listen is None:
        raise click.UsageError("--certificate belongs to --listen")
    return Listening(listen or LOOPBACK, port, certificate, key, names)


def _require_terminal(shell: Shell, decide: bool, listen: str | None) -> None:
    if not decide:
        return
    if listen is not None:
        raise Refused(
            "decide_is_local",
            "a person's word is taken only from this machine",
            hint="leave --decide or --listen away",
        )
    shell.session.require_no_agent("--decide")
    if not shell.interactive():
        raise Refused(
            "terminal_required",
            "--decide asks for a passphrase, and nobody is at this terminal",
            hint="run it yourself, at a terminal",
        )
