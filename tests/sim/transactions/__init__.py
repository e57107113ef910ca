"""Transactions in the simulated cluster: a coordinator's topic, producers that commit, abort, die
and come back, readers of committed records, and what must hold of them.

    clients.py      producers with a transactional id, and readers
    ledger.py       what they meant, what they were told, and what the logs say of it
    simulation.py   a run: the faults and the other invariants are those of every simulation
"""
