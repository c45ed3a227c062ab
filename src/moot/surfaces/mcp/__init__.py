"""`moot mcp`: eight tools for a model, over the Model Context Protocol on standard streams.

    arguments.py    what each tool takes, as types; the JSON schemas are made from them
    actions.py      which operation of the library each action calls, and how arguments are named
    tools.py        the eight tools as they are listed: sentences and annotations
    calls.py        one call: checked, done by the library, answered as an envelope
    now.py          the one tool that puts two operations together, and may wait
    results.py      envelopes: others' words are marked, long ones are cut and can be read on
    identity.py     who the server acts as
    wire.py         messages in and out, bounded
    conversation.py hands each to the official SDK, which speaks the protocol
    server.py       the SDK's server with our tools; one call at a time

It adds no rule: what may be done, and by whom, is decided in `moot.api`. Operations that start
programs are not offered, and neither is what takes from others or ends something.
"""
