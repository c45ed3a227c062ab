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
from moot.surfaces.terminal.derive import options
from moot.surfaces.terminal.shell import Shell, command

if TYPE_CHECKING:
    from moot.surfaces.web.server import Listening

LOOPBACK: Final = "127.0.0.1"
_PEM: Final = click.Path(path_type=Path, exists=True, dir_okay=False)


class Served(msgspec.Struct, frozen=True):
    """The address of a server that has ended."""

    address: str


@command(None, "serve", "serve")
@options("""
    --port 0..65535          Default: any free one.
    --open = open_browser    Open it in the browser.
    --decide                 Prepare rulings on the page; give them in this terminal.
    --listen ADDRESS         Let other machines look; needs TLS.
    --certificate FILE       The certificate for --listen, in PEM.
    --key FILE               The key of that certificate, in PEM.
    --name HOST = names      A name in the certificate.
""", types={"certificate": _PEM, "key": _PEM})  # fmt: skip
def serve(
    shell: Shell,
    port: int = 0,
    open_browser: bool = False,
    decide: bool = False,
    listen: str | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
    names: tuple[str, ...] = (),
) -> Answer:
    """Show this workspace in the browser while agents work: it prints one address to open.

    It shows what waits for you, who works where, who blocks whom, what was decided and why, and
    whether the record is intact, and updates itself. The page is read-only. The address contains a
    secret: anyone who has it can look until the server ends. With --decide you prepare a ruling on
    the page and give it in this terminal, which asks for the passphrase; never type a passphrase
    into a page. Ctrl-C ends it.

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
            "without TLS others could read the page on its way through the network",
            hint="add --certificate FILE --key FILE, or omit --listen",
        )
    return Listening(listen or LOOPBACK, port, certificate, key, names)


def _require_terminal(shell: Shell, decide: bool, listen: str | None) -> None:
    if not decide:
        return
    if listen is not None:
        raise Refused(
            "decide_is_local",
            "a person can rule only on this machine",
            hint="omit --decide or --listen",
        )
    shell.session.require_no_agent("--decide")
    if not shell.interactive():
        raise Refused(
            "terminal_required",
            "--decide asks for a passphrase and needs a terminal",
            hint="run it yourself, at a terminal",
        )
