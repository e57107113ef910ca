"""Faults of one API's requests, or their answers, on one link.

    actions.py        what can be done to a request or an answer, as values
    rules.py          which requests, how often: a fault, and the rules that hold
    frames.py, reading.py   bytes into frames, a frame into a request; the answer that refuses it
    conversation.py   one connection under rules: bytes and time in, effects out; pure
      asking.py       its requests on their way; answering.py, its answers in the client's order
      waiting.py      why something may not go on yet
      effects.py      what comes out of it
    watching.py, telling.py   each exchange as a line of a history, and what of it is worth keeping
    interceptor.py    a conversation on its connection; injections.py, all of them

What a client sees could have come of a network and a broker as they are, but for requests that are
overtaken on one connection: answers keep the order of their requests, an error that is made here
waits for the answers before it, and after a lost one nothing follows on its connection, as if it
had gone silent.

Caveats: while a rule holds on a link, the frames of all its connections go on when they are whole,
which costs time and memory (frames.MAX_FRAME_BYTES a direction). What is encrypted cannot be read,
and a connection with SASL tokens that are no requests (before KIP-152), or with a frame of absurd
length, passes unread. A request that was on its way when the first rule of a link came is not met.
"""
