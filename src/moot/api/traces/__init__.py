"""Traces: work that can be proved, from a task to a verified report.

claims.py             what runs show, objections to it, and the statement that closes a trace
execution.py          intents are run, runs that died are recorded, participants do the work
guarded_execution.py  nothing runs that writes where its executor holds nothing
inspection.py         is a trace true?
lifecycle.py          a trace is begun, stopped for good, a part goes on under a new key
planning.py           proposals and intents, and the critic's judgement of both
reading.py            what there is to see of traces, and of work that was only watched
running.py            an approved intent: on record before it runs, its outputs stored
tracing.py            a trace's name, who plays a part, its single events by their ids
verification.py       is a trace intact, complete and within its policy?
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.api.traces import claims as claims
    from moot.api.traces import execution as execution
    from moot.api.traces import lifecycle as lifecycle
    from moot.api.traces import planning as planning
    from moot.api.traces import reading as reading
    from moot.api.traces import verification as verification
