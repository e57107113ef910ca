"""The parts of a broker and how they hang together, in the order in which they are made.

    composer.py   makes each part, once
    parts.py      which they are
    api.py        the table of served requests, made of the parts
    handlers/     one list a room: the handlers of its keys

Nothing here decides anything; it is the one place that knows every part. What a part or a handler
needs of another it gets by constructor, as a value or as a narrow callable.
"""
