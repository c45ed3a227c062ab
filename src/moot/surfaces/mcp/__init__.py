"""`moot mcp`: eight tools for a model, over the Model Context Protocol on standard streams.

    actions.py       which operation each action of a tool is, and what the operation calls the
                     tool's arguments
    arguments.py     what each tool takes
    calls.py         one call of a tool: checked against its types, done by the library,
                     answered with an envelope
    conversation.py  one client's requests and notifications, handed to the SDK in the order in
                     which they come
    identity.py      who the server acts as: the agent that started it, else one that joins with
                     the first call
    now.py           `now`: who you are, what is due and the call that does it, mail, what you
                     hold, who else works
    results.py       answers: one envelope, with others' words marked, cut to what a model can
                     take in
    server.py        the server: the official SDK speaks the protocol, `calls.py` does what is
                     asked for
    tools.py         the eight tools as a client lists them
    wire.py          messages in and out, a line each

It adds no rule: what may be done, and by whom, is decided in `moot.api`. Operations that start
programs are not offered, and neither is what takes from others or ends something.
"""
