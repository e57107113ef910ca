"""What an administrator asks of a cluster (org.apache.kafka.clients.admin.Admin), without I/O.

    enquiries.py   all that is being asked, tried again until a call's deadline
    keyed.py       calls about things of which each has its broker
    leaders.py, coordinators.py      which one that is
    by_broker.py   what every broker is asked
    asks.py        one request, and whom; results.py: what a call comes to, item by item
    refusals.py, quotas_of_changes.py   what errors mean to it

The calls themselves, each with the values that go in and come out:

    cluster.py     brokers, controller, features
    topics.py      made, grown, deleted; described_topics.py: what they are like
    configs.py     what topics and brokers are set to
    acls.py        who may do what; operations.py: what whoever asks may do
    log_dirs.py    where replicas lie
    reassignments.py   elections, and moves between brokers
    offsets.py     which offsets there are, and records given up
    producers.py   who writes to partitions
    groups.py      consumer groups; described_groups.py: what they are like
    group_offsets.py   how far groups are
    transactions.py    which there are, and fencing
    quotas.py, scram.py, tokens.py   what clients may take, and how they come in

A call is a generator that yields what it asks. It knows neither time nor connections.
"""
