"""A consumer in its group: membership by the classic protocol, and committed offsets.

coordination.py    all of it, as a consumer uses it
listener.py        what a program is told
group_cluster.py   what it wants to know of its cluster
settings.py        the keys that it heeds
"""
