"""A new message type is a member and a row in `mail/types.py`: everything else reads them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from moot.protocols.mail import types
from moot.protocols.mail.types import TYPES, MessageType, SectionNeed

ROOT = Path(__file__).parents[2]
MEMBER = '    INFO = "INFO"\n'
ROW = "    TypeSpec(  # BRN-070"
NEW_MEMBER = '    RISK = "RISK"\n'
NEW_ROW = """\
    TypeSpec(
        MessageType.RISK, True, "warn of a danger", "RISK: {danger}", "Risk",
        (
            SectionSpec("Danger", _MUST, "{What may go wrong}",
                        rule=SectionRule("MBX-900", "missing_danger", "", "say what may go wrong")),
            SectionSpec("Chance", _SHOULD, "{Low | High}", choices=("Low", "High"),
                        rule=SectionRule("MBX-901", "no_chance", "")),
            SectionSpec("Owner", _MAY, "{Who looks after it}", names="agent"),
        ),
        duty="look at the risk", needs_completion=True, answered_in_words=True,
        one_line={"Danger": "{line}", "Chance": "High", "Owner": "{sender}"},
    ),
"""
# Run with the changed source in place of the module, before anything imports it.
SCRIPT = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
spec = spec_from_file_location("moot.protocols.mail.types", sys.argv[1])
sys.modules[spec.name] = module = module_from_spec(spec)
spec.loader.exec_module(module)

from click.testing import CliRunner
from moot.api.mail.sending import _choose_body
from moot.protocols.mail.fix import fix_message
from moot.protocols.mail.message_rules import lint_message
from moot.protocols.mail.message import PREFIX_HINT, parse_subject
from moot.protocols.mail.fix import write_template
from moot.surfaces.cli.mail.writing import template
from moot.surfaces.cli.mail.writing import send
from moot.surfaces.cli.main import cli
from tests.mail.scene import CRANE, OTTER, MailScenario, send as sending

RISK = module.MessageType.RISK
assert "QUESTION, RISK, INFO in capitals" in PREFIX_HINT
assert parse_subject("RISK: fire").type is RISK
assert write_template(RISK).body.startswith("# Risk\\n\\n## Danger\\n{What may go wrong}\\n")
assert "QUESTION, RISK, INFO" in template.help
assert "QUESTION, RISK, INFO need no file" in send.help

body = _choose_body("RISK: fire", OTTER, None, None)
assert body == f"# Risk\\n\\n## Danger\\nfire\\n\\n## Chance\\nHigh\\n\\n## Owner\\n{OTTER}\\n"
assert lint_message("RISK: fire", body, agents={OTTER}).findings == ()
found = lint_message("RISK: fire", "## Owner\\nnobody-else\\n", False, agents={OTTER}).findings
assert [(f.rule, f.code, f.severity) for f in found] == [
    ("MBX-900", "missing_danger", "error"),
    ("MBX-901", "no_chance", "warning"),
    ("MBX-010", "unknown_agent", "warning"),
    ("MBX-013", "ack_not_set", "warning"),
], found
assert "`## Chance` says High" in fix_message("risk: fire", body.replace("High", "high")).repairs
shown = CliRunner().invoke(cli, ["mail", "template", "risk"]).output
assert shown.startswith("<!-- subject: RISK: {danger} -->"), shown

scenario = MailScenario()
(sent,) = scenario.run(OTTER, sending("RISK: fire", body)).recorded
assert sent.event.type is RISK and sent.event.ack_required
((_, due),) = scenario.world.engine.agenda(["mail/auth-cache"])
assert due.who == CRANE
assert due.what == "look at the risk"
assert due.hint.endswith("--status Completed --notes TEXT"), due.hint
"""


def test_a_type_that_is_added_here_works_everywhere(tmp_path: Path) -> None:
    source = Path(types.__file__).read_text("utf-8")
    assert source.count(MEMBER) == source.count(ROW) == 1
    changed = tmp_path / "types.py"
    grown = source.replace(MEMBER, NEW_MEMBER + MEMBER).replace(ROW, NEW_ROW + ROW)
    changed.write_text(grown, "utf-8")
    command = [sys.executable, "-c", SCRIPT, str(changed)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_every_type_has_its_row() -> None:
    assert list(TYPES) == list(MessageType)


def test_a_section_that_is_asked_for_has_a_rule() -> None:
    """Without one, the linter would say nothing about a body that leaves it out."""
    silent = [
        f"{kind} {section.heading}"
        for kind, spec in TYPES.items()
        for section in spec.sections
        if (section.need is SectionNeed.OPTIONAL) is not (section.rule is None)
    ]
    assert silent == []
