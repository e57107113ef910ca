"""The older clients' access to ZooKeeper.

client.py   a session for blocking threads; kazoo.py: sessions of a real ZooKeeper
nodes.py    steps of procedures
brokers.py  the live brokers
"""
