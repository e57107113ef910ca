"""Requests that wait for others, under Kafka's names, woken by partitions, ended by deadlines.

delayed_produce.py         for the in-sync replicas
delayed_fetch.py           for records
delayed_delete_records.py  for the followers' log starts
deadline_queue.py          whose time is over
"""
