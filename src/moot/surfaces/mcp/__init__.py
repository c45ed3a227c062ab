"""`moot mcp`: eight tools for a model, over the Model Context Protocol on standard streams.

    actions.py       the operation behind each action of a tool, and the operation's names for
                     the tool's arguments
    arguments.py     the arguments of each tool
    calls.py         one call of a tool: checked against its types, done by the library,
                     answered with an envelope
    conversation.py  pass one client's requests and notifications to the SDK, in order
    identity.py      who the server acts as: the agent that started it, else one that joins with
                     the first call
    now.py           `now`: who you are, what is due and the call that does it, mail, what you
                     hold, who else works
    results.py       replies: one envelope, with text of others marked, cut to a length that a
                     model can read
    server.py        the server: the official SDK speaks the protocol, `calls.py` does the work
    tools.py         the eight tools as a client lists them
    wire.py          JSON-RPC messages on standard input and output, one in each line

It adds no rule: `moot.api` decides what may be done, and by whom. No tool starts programs, takes
something from others or ends something.
"""
