"""What a ConsumerConnector is made of.

wiring.py        how all of it hangs together
watching.py      what happens in ZooKeeper, and who acts on it
rebalancer.py    a share of the group's partitions, worked out anew when anything changes
group.py         the group in ZooKeeper: who is in it, who owns what, how far they are
registering.py   a consumer's own node; registration.py: what it says
topic_filter.py  topics by a regular expression
assignment.py    who is to own what
offsets.py       where they are kept
fetchers.py      which broker's fetcher has which partitions; leaders.py: who leads them
fetcher.py       fetching from one broker
stream.py        what fetchers put and a program takes
worker.py        a thread; statistics.py: what is counted
"""
