"""Failover: from the kill -9 of a partition's leader to the next ack.

clients.py    producers that send while they are told to, and say when they sent what was acked
Acks.java     one of them, on Kafka's own client
kills.py      kill after kill, of leaders that are the controller too and that are not
"""
