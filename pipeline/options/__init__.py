"""Options by name, of whatever format.

values.py     flags, numbers, times, names, offsets by partition
clients.py    those that begin with `kafka.`: Kafka's own keys
functions.py  functions among those, by name
"""
