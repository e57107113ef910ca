"""Clients whose calls block, each over a thread of its own.

futures.py   futures that block
threads.py   the thread
producer.py  the producer
consumer.py  the consumer
admin.py     the admin client
ranges.py    a range of a partition, batch by batch as stored
"""
