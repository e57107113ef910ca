"""Bugs that a broker can be given on purpose, so that it can be shown that they would be found.

    bugs.py           the list: what goes wrong, which invariants notice, how, and how soon
    bug.py            what is said of each
    planting.py       from LOGQUAKE_PLANTED_BUG to a broker that has them
    journal_events.py what such a broker tells of itself
    replication.py, storage.py, groups.py, offsets.py, transactions.py, controllers.py
                      the bugs themselves: each puts one thing in the place of another

A bug is a function that replaces a method, or a name of a module, with one that is wrong as brokers
have been. Nothing of the broker asks whether it has a bug, so one that has none pays nothing; and
the simulation plants the same ones (tests/sim).
"""
