"""The consumer: what it decides, without a socket, a thread or a clock.

What a program calls:

    consuming.py        all of it; seeking.py, lookups.py, committing.py: parts of it
    calls.py            what holds of every call; callers.py: one caller at a time
    deserializing.py    the program's deserializers; interceptors.py: its interceptors
    handing_out.py      fetched records, as the program gets them; one_by_one.py: in its loop
    records.py          what a poll returns
    offsets.py          what is committed, and as whom
    questions.py        what a program waits for, asked until it is answered
    topic_search.py     topics and their partitions, looked up for it

What goes on between the calls:

    core.py             all of it
    failures.py         what went wrong, until the next call raises it
    subscription.py     what is wanted, and what is assigned
    partition_state.py  one assigned partition: where it is read, and whether
    position.py         a place in a partition, and who vouches for it
    topics.py           which topics it needs metadata about
    cluster.py          what it wants to know of its cluster
    group/              membership, and committed offsets
    assignors/          who of a group reads which partitions
    ungrouped.py        what stands for the group of a consumer without one
    fetch/              records, fetched ahead of the polls
    positions/          what leaders are asked about positions and offsets

How it is made:

    composing.py        its parts, from its configuration
    settings.py         the keys that they heed
    facade.py           what the blocking and the asyncio consumer have in common

`client/sync/consumer.py` and `client/aio/consumer.py` are what programs see of it.
"""
