"""What the controller reads and writes in ZooKeeper.

guarded_zk.py     partition states, and every write under the guard of the controller's epoch
watched_reads.py  brokers, topics and deletion marks, each read with its watch
znode_removal.py  the znodes of a deleted topic
set_aside.py      znodes that make no sense
"""
