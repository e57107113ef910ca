"""The consumer: what it decides, without a socket, a thread or a clock.

    assignors/      who of a group reads which partitions

Caveat: what stands here is pure and not joined to a network yet; `logquake consume` still reads
through `client/reader.py`, `tail.py` and `membership.py`.
"""
