"""The calls that programs make, by what they are about.

    calling.py     beginning one, and what it promises
    of_topics.py, of_partitions.py, of_groups.py, of_brokers.py, of_transactions.py, of_clients.py
    of_quorums.py  those that need a cluster of KRaft's

Each begins something and returns at once what it promises: a `Promise` of each item, by item, or
one for the whole. What is not of its signature is refused before: ValueError for a text where
several things are wanted, TypeError by the name of the argument. ``timeout_ms`` stands in for
default.api.timeout.ms: the time for all attempts.
"""
