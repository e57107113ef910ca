"""The calls that programs make, by subject.

    calling.py     beginning a call, and its promises
    of_topics.py, of_partitions.py, of_groups.py, of_brokers.py, of_transactions.py, of_clients.py
    of_quorums.py  those that need a KRaft cluster

Each call returns at once, with a `Promise` for each item, by item, or one for the whole. Arguments
that do not fit its signature are refused first: ValueError for a string instead of several items,
TypeError with the argument's name otherwise. ``timeout_ms``, the time for all attempts, overrides
default.api.timeout.ms.
"""
