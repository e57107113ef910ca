"""What a broker knows of the whole cluster: the controller's UpdateMetadata, kept as it came.

cache.py           MetadataCache; topic_names.py: which names are Kafka's own
waiters.py         requests that wait until the cache shows what they asked for
first_metadata.py  those that came before it showed anything
lost_leaders.py    those that ask for a leader which has just died
"""
