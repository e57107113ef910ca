"""ZooKeeper's own record of what was written: the files version-2/log.* of its data directory.

    jute.py     fields as ZooKeeper's serialization lays them out
    entries.py  one transaction's bytes -> Applied
    files.py    a file's bytes -> its transactions; several files, several servers

Pure over bytes. Every transaction that took place is there, by zxid, with its session and the
server's time; one that was refused is there too, and left out. Snapshots are not read: a server
deletes neither them nor its logs unless autopurge.purgeInterval is set.

Caveats: what the end of a session deleted is told by servers from 3.6 on; a log's last transaction
may not have been answered, nor, in an ensemble, been agreed upon (files.py:agreed).
"""
