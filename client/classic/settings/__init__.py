"""The older clients' configuration: the keys of Kafka 0.8, and those of 0.7 under their names.

producer.py, consumer.py    one table each
zookeeper.py    the keys of both
older_names.py  0.7's names for 0.8's keys
kinds.py        types of values
"""
