"""A consumer in its group: membership by the classic protocol, and committed offsets.

coordination.py     all of it, as a consumer uses it
rebalancing.py      what a program gives up before a rebalance, and gets after it
membership.py       a member's way through the generations
joining.py          how it joins; assigning.py: how it comes to its assignment
generation.py       who it is, and how far
election.py         a leader learns of the topics, and assigns
leading.py          what it makes of the others' wishes
errands.py          the program's assignors, called
topic_watch.py      whether topics or wishes have changed since
freshness.py        a pattern is matched just before joining
keeping_alive.py    it beats, or leaves
heartbeat.py        when
coordinator.py      who coordinates, and asking it
unsent.py           what it is to be asked, until it may be
requests.py         what it is asked about membership
commits.py          offsets are committed
automatic.py        by themselves
committed.py        what is committed, and where partitions begin by it
commit_requests.py  what is asked about offsets
asking.py           what a program waits for
invoking.py         what its listener does about it
statistics.py       under Kafka's names
listener.py         what a program is told
group_cluster.py    what is wanted of metadata
settings.py         the keys that it heeds
"""
