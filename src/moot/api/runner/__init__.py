"""What `moot run` does for its program, which has an agent's key and no other.

    delegation.py   an operation that needs the ledger's own key goes to the run
    values.py       arguments and results on their way there and back
    requests.py     what the run answers, each as its agent and by the library's own rules
    listening.py    the socket: who may connect, how long, how much
    lending.py      the key folder and the socket that a program finds, while it runs

Programs are never started here for the agent, and files are read and written only in its project:
a tool may keep its model in a sandbox, and this must be no way out of it (decision 0040).
"""
