"""Mail over the engine: what the machine cannot know by itself.

    letters.py         who is meant by a name, which thread, where a long text goes; sending
    messages.py        messages on record, looked up by their ids and read whole
    notices.py         one act in two records: presence's event and the message about it
    imports.py         messages from outside, each taken in once
    inbox.py           what was sent to an agent, what is new, how far it has read
    owed_answers.py    what an agent owes an answer to
    message_search.py  messages by their words, long texts included

What may be sent and answered is decided by `protocols/mail`.
"""
