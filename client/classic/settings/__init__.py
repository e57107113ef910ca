"""The older clients' configuration: Kafka's keys of 0.8, and by their older names those of 0.7.

producer.py, consumer.py    one table each
zookeeper.py    what both have
older_names.py  0.7's names of 0.8's keys
kinds.py        what a value may be
"""
