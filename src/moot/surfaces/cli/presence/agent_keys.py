"""`moot agent rotate` and `revoke`: a new key for a name, and the end of one."""

from __future__ import annotations

from pathlib import Path

import click

from moot.api import agent_keys
from moot.surfaces.terminal.answer import Answer
from moot.surfaces.terminal.shell import Shell, command, text_argument


@command(None, "rotate", "agent.rotate")
@click.argument("name")
@click.option("--reason", default="routine", show_default=True, help="Why; kept on record.")
@click.option(
    "--keys",
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that keeps NAME's key, if it is not yours; the new key goes there.",
)
def rotate(shell: Shell, name: str, reason: str, keys: Path | None) -> Answer:
    """Give NAME a new key, kept where its old one is.

    The old key consents; a person does if that key was revoked or is lost.

    Examples:
      moot agent rotate amber-otter
      moot agent rotate amber-otter --keys ~/agents/otter
    """
    rotated = agent_keys.rotate(
        shell.session,
        name,
        reason=text_argument(reason),
        keys=keys,
        passphrase=shell.new_passphrase,
    )
    place = f"; it is in {keys.absolute()}" if keys else ""
    line = f"{name} signs with key {rotated.kid[:8]}… from now on{place}"
    return Answer(rotated, lambda: [line])


@command(None, "revoke", "agent.revoke")
@click.argument("name")
@click.option("--reason", required=True, help="Why; kept on record.")
@click.option("--kid", help="An older key of NAME: 8 digits will do (default: the current one).")
def revoke(shell: Shell, name: str, reason: str, kid: str | None) -> Answer:
    """Stop trusting NAME's key: it leaked or was lost. What it signed until now still counts.

    Examples:
      moot agent revoke amber-otter --reason "laptop stolen"
      moot agent revoke amber-otter --reason "old backup leaked" --kid 3f786850
    """
    revoked = agent_keys.revoke(shell.session, name, text_argument(reason), kid=kid)
    key = (kid or revoked.kid)[:8]
    return Answer(revoked, lambda: [f"the key {key}… of {name} is no longer trusted"])
