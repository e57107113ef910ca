"""Transactions in the simulated cluster: a coordinator's topic, producers that commit, abort, die
and come back, readers of committed records, and what must hold of them.

    program.py      programs that write in transactions, with the client's own producer
    watch.py        what passes between them and the brokers
    readers.py      who reads all of it, and who reads what is committed
    ledger.py       what they meant, what they were told, and what the logs say of it
    simulation.py   a run: the faults and the other invariants are those of every simulation
"""
