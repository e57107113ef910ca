"""The consumer: what it decides, without a socket, a thread or a clock.

    assignors/          who of a group reads which partitions
    settings.py         the keys that it heeds
    group/              membership, and committed offsets
    subscription.py     what is wanted, and what is assigned
    partition_state.py  one assigned partition: where it is read, and whether
    offsets.py          what is committed, and as whom
    position.py         a place in a partition, and whose word there is for it
    cluster.py          what it wants to know of its cluster
    fetching.py         brokers are asked ahead of the polls
    sessions.py         what a request need not name again (KIP-227)
    buffer.py           what was fetched and not handed out
    collecting.py       what a poll hands out, and what it tells
    completed.py        one partition's share of an answer
    batches.py          the batches of an answer, and what a reader may see of them
    aborted.py          the records of aborted transactions, left out of that

Caveat: what fetches is pure and not joined to a network yet, and what it lacks is who asks for
resets and validations; `logquake consume` still reads through `client/reader.py`,
`tail.py` and `membership.py`, which share `batches.py`, `aborted.py` and the assignors with it.
"""
