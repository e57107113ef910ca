"""What happens between the older producer's send() and the brokers.

sending_at_once.py    producer.type=sync
queueing.py           producer.type=async
message_queue.py      its queue
send_thread.py        the thread that empties it, and when a batch is sent
hooks.py              the program's hooks
handling.py           the program's handler before the default one
event_handler.py      serializes, chooses partitions, writes, and retries
collating.py          which broker gets which messages
broker_partitions.py  the partitions' leaders; zookeeper_partitions.py: from ZooKeeper
pool.py               a channel for each leader
statistics.py         counts
"""
