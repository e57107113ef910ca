"""Clients whose calls block, each over a thread of its own.

futures.py   what one comes to, waited for
threads.py   the thread
ranges.py    a range of a partition, batch by batch as stored
producer.py  the producer
consumer.py  the consumer
admin.py     the admin client
"""
