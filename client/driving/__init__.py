"""Drivers: they wait, and move bytes, for a core; carry out its effects, and report events to it.

blocking.py    drives a core on its caller's thread
thread.py      drives it on a thread of its own, for callers on others; waker.py: wakes that thread
aio.py         drives it on asyncio's loop
steps.py       the program's calls, for callers that block and that await
driven.py      what a driver sees of a core; ending.py: how a driver ends
forks.py       a client in a process that was forked
sockets.py     non-blocking sockets and a selector; transports.py: plain, or TLS
lookout.py     when a driver looks at them: before anything is timed out
aside.py       what runs in parallel with the core: obtaining tokens, and (names.py) addresses
way_in.py      TLS or not, and as whom; sasl.py: logins
"""
