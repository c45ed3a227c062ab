"""Messages: write, check, send, read, answer, compile.

answers.py  `moot mail ack`, `pending`, `tick`, `run` and `compile`: answers, owed and given
reading.py  `moot inbox`, `moot mail inbox`, `show`, `search` and `thread`: reading what was
            sent
writing.py  `moot send`, `moot mail template`, `lint`, `send` and `import`: messages on
            their way
"""
