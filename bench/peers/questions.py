"""What is asked of everyone who offers it. Less is better in every row."""

from __future__ import annotations

from typing import Final, NamedTuple


class Question(NamedTuple):
    """One row of the page: what is done, and the unit of the answer."""

    name: str
    title: str
    unit: str
    what: str


QUESTIONS: Final = (
    Question(
        "start",
        "Start-up",
        "ms",
        "A new process, from nothing to the first useful thing done, and out again.",
    ),
    Question("mail-1", "Mail, one client", "ms", "One message sent and acknowledged."),
    Question(
        "mail-8",
        "Mail, eight clients at once",
        "ms",
        "Eight clients send at the same time: the time that went by, divided by all messages.",
    ),
    Question(
        "reserve-10",
        "Reserve a file, 10 held",
        "ms",
        "One more file is reserved while others hold 10; giving it back is not in the time.",
    ),
    Question(
        "reserve-10000",
        "Reserve a file, 10,000 held",
        "ms",
        "The same while others hold 10,000.",
    ),
    Question(
        "turn",
        "A debate turn, everything kept",
        "ms",
        "One turn of a discussion of three whose words are laid down beforehand, and all of it kept"
        " on the disk: what the program adds to the model's own time.",
    ),
    Question("append", "Append one record", "ms", "One record of some 300 bytes is kept."),
    Question(
        "verify",
        "Verify 1,000 records",
        "ms",
        "A thousand kept records are checked.",
    ),
    Question(
        "tools",
        "MCP tools as a model reads them",
        "tokens",
        "What a model reads before it does anything: the bytes of the answer to tools/list,"
        " divided by four.",
    ),
    Question(
        "memory",
        "Resident memory",
        "MB",
        "Of the process that an agent or a program keeps, once it has answered or done one thing.",
    ),
)
BY_NAME: Final = {question.name: question for question in QUESTIONS}
