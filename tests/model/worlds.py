"""The small world of each machine, by the machine's name."""

from __future__ import annotations

from tests.model.debate import Debate
from tests.model.decision import Decision
from tests.model.errands import Errands
from tests.model.mail import Mail
from tests.model.observed import Observed
from tests.model.parliament import Parliament
from tests.model.path import Path
from tests.model.plan import Plan
from tests.model.presence import Presence
from tests.model.registry import Registry
from tests.model.small_world import SmallWorld
from tests.model.trace import Trace

WORLDS: dict[str, type[SmallWorld]] = {
    "example": Errands,
    "presence": Presence,
    "trace": Trace,
    "observed": Observed,
    "decision": Decision,
    "mail": Mail,
    "debate": Debate,
    "parliament": Parliament,
    "path": Path,
    "plan": Plan,
    "registry": Registry,
}
