"""Requests that wait for others (Kafka's purgatories), woken by partitions, ended by deadlines.

requests.py           all of them, and the end of a pass
appends.py            a pass's Produce requests; produce_purgatory.py: for the in-sync replicas
fetch_purgatory.py    for records
record_deletion.py    for the followers' log starts
deadline_queue.py     whose time is over
"""
