"""Who waits, and how bytes travel: what a core wants is done here, and what happens is told to it.

blocking.py    a core driven by whoever waits for its answer
thread.py      a core driven by a thread of its own, for callers on others; waker.py: waking it
aio.py         a core driven by asyncio's loop
steps.py       a program's call, for callers that block and that await
driven.py      what a driver sees of a core; ending.py: how a driver ends
forks.py       a client in a process that was forked
sockets.py     non-blocking sockets and a selector; transports.py: plain, or TLS
lookout.py     when a driver looks at them: before time is judged
aside.py       what goes on beside the core: asking for a token, or, in names.py, for addresses
way_in.py      what is spoken, and who we say that we are; sasl.py: logging in
"""
