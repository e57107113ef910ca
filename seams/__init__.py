"""What the outside is asked, so that a simulation can be plugged in.

scheduler.py  the time, and to be called later
workers.py    threads for what would hold up the loop
network.py    connections to other brokers
journal.py    where events are recorded, each with the reason why
tls           keys and certificates, as brokers and clients are told of them

Protocols and the values that they take alone, but for tls. ZooKeeper's seam is
logquake.zk.operations.Session and the disk's logquake.storage.disk.seam.Disk: they speak of znodes
and of files, which are those rooms' matter. Randomness is random.Random, seeded or not. A whole
broker is given all of them at once, in logquake.node.outside.Outside.
"""
