"""Clients by the hundred in one thread, that speak Kafka's protocol and cost little themselves.

``driver`` runs them, each a coroutine; ``line`` is a connection of one, ``cluster`` what a client
knows of the brokers. ``member`` is a member of a group, ``producer`` one that has transactions.
Both kinds of target are driven by the same code, and it leaves out whatever a library does for its
own sake: what is measured is the broker.
"""
