"""A consumer in its group: membership by the classic protocol, and committed offsets.

coordination.py       all of it, as a consumer uses it
rebalancing.py        what a program gives up before a rebalance, and gets after it
membership.py         a member's way through the generations
joining.py            JoinGroup; assigning.py: SyncGroup
generation.py         a member's identity and stage
election.py           a leader looks topics up, and assigns
leading.py            what a leader reads in the members' subscriptions
errands.py            calls the program's assignors
topic_watch.py        whether topics or the subscription have changed since
freshness.py          matches a pattern again just before joining
keeping_alive.py      sends heartbeats, or leaves
heartbeat.py          when they are due
coordinator.py        the coordinator, and requests to it
unsent.py             requests that wait until it takes them
requests.py           requests about membership
commits.py            commits offsets
automatic.py          automatic commits
committed.py          committed offsets, and where partitions begin because of them
commit_requests.py    requests about offsets
coordinator_calls.py  calls that wait for the coordinator
invoking.py           calls the listener
statistics.py         statistics under Kafka's names
listener.py           the listener and callbacks of a program
group_cluster.py      what a member needs to know of the cluster
settings.py           the keys that it heeds
"""
