"""The consumer: what it decides, without a socket, a thread or a clock.

    assignors/          who of a group reads which partitions
    settings.py         the keys that it heeds
    group/              membership, and committed offsets
    subscription.py     what is wanted, and what is assigned
    partition_state.py  one assigned partition: where it is read, and whether
    offsets.py          what is committed, and as whom
    position.py         a place in a partition, and whose word there is for it
    cluster.py          what it wants to know of its cluster
    consuming.py        what a program calls; seeking.py, asking.py, committing.py: the rest of it
    composing.py        its parts, made out of its configuration
    core.py             what goes on between the calls
    calls.py            what holds of each call; callers.py: one at a time
    failures.py         what went wrong between them
    programs_own.py     the program's deserializers and interceptors
    taken.py            what a poll has taken, and gives back where it is cut off
    handing_out.py      fetched records, as the program gets them; one_by_one.py: in its loop
    position_requests.py what leaders are asked about positions: resets.py, validations.py
    ungrouped.py        a consumer without a group
    topics.py           which topics it wants to know about
    resets.py           where logs begin and end; offset_lists.py: what is asked, and answered
    validations.py      whether logs still are what was read; epoch_ends.py the same
    leader_requests.py  requests to the leaders of partitions
    questions.py        what a program waits for: offset_search.py, topic_search.py
    end_looks.py        where a partition ends, asked though nobody waits
    fetch_requests.py   fetches are sent
    fetching.py         brokers are asked ahead of the polls
    sessions.py         what a request need not name again (KIP-227)
    buffer.py           what was fetched and not handed out
    collecting.py       what a poll takes out of that, and what it tells
    records.py          what it hands out; statistics.py: how much, under Kafka's names
    completed.py        one partition's share of an answer
    batches.py          the batches of an answer, and what a reader may see of them
    aborted.py          the records of aborted transactions, left out of that

`client/sync/consumer.py` and `client/aio/consumer.py` are what programs see of it.
"""
