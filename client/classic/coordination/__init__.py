"""What the older clients have to do with ZooKeeper.

client.py   a session for threads that wait; kazoo.py: of a real ZooKeeper
nodes.py    steps of procedures
brokers.py  the brokers that live
"""
