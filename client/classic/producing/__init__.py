"""What stands between the older producer's send() and the brokers.

send_thread.py        the queue of producer.type=async, and when a batch is sent
hooks.py              where a program steps in
event_handler.py      serializes, chooses, writes, and tries again
collating.py          which broker is sent which messages
broker_partitions.py  who leads what, and who tells it
pool.py               a channel for each leader
statistics.py         what is counted
"""
