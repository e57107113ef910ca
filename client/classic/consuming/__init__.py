"""The parts of a ConsumerConnector.

wiring.py        how the parts are connected
watching.py      changes in ZooKeeper, and the thread that handles them
rebalancer.py    a share of the group's partitions, recomputed after any change
group.py         the group in ZooKeeper: its members, their partitions and offsets
registering.py   a consumer's own node; registration.py: its contents
topic_filter.py  topics by a regular expression
assignment.py    who is to own which partitions
offsets.py       where offsets are kept
fetchers.py      which broker's fetcher has which partitions; leaders.py: who leads them
fetcher.py       fetching from one broker
stream.py        buffers that fetchers fill and a program empties
worker.py        a thread; statistics.py: counts
"""
