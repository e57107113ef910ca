"""A small blocking client: one thread, one request at a time on a connection, no background work.

    errors.py       what can go wrong, with Kafka's names for it
    settings.py     where the cluster is and how long to wait
    clock.py        time, so that tests need none
    connection.py   a socket, version negotiation, one request and its response
    routing.py      brokers, leaders, and trying again
    admin.py        the cluster and its topics
    offsets.py      earliest, latest, first after a time
    reader.py       a partition's records from its leader
    aborted.py      the records of aborted transactions, left out of what a reader sees
    producer.py     one batch at a time, written and acknowledged
    partitioner.py  Kafka's default choice of a partition for a key

Caveats: no consumer groups and no transactions; plain text only, no TLS or SASL. Nothing here may
be shared by threads.
"""
