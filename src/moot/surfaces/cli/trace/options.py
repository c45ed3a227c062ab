"""Arguments and options that several commands of a trace have."""

from __future__ import annotations

import click

trace_argument = click.argument("trace", metavar="TRACE")
supersedes_option = click.option("--supersedes", metavar="ID", help="The one this replaces.")
