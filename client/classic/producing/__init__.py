"""What stands between the older producer's send() and the brokers.

sending_at_once.py    producer.type=sync
queueing.py           producer.type=async
message_queue.py      its queue
send_thread.py        the thread that empties it, and when a batch is sent
hooks.py              where a program steps in
handling.py           its own handler before the default one
event_handler.py      serializes, chooses, writes, and tries again
collating.py          which broker is sent which messages
broker_partitions.py  who leads what, and who tells it; zookeeper_partitions.py: ZooKeeper does
pool.py               a channel for each leader
statistics.py         what is counted
"""
