"""What clients may use up, and for how long they wait when it was more (KIP-13, 124, 219, 599).

measures.py        how much was used lately: a rate over windows, a bucket of tokens; and the wait
entities.py        whom a limit is for: a user, a client id, both, or the default of each
client_quotas.py   one resource: what each client used of it, and the wait that follows
quotas.py          the four resources that clients share, and what ZooKeeper says of their limits
usage.py           what one request used of them
mutations.py       what one request may change of the cluster
addresses.py       how fast connections may come from an address
alteration.py      what an alteration may say (KIP-546)
describing.py      which quotas a filter asks for
stored.py          the znodes of all of them
administration.py  requests to describe and alter them, carried out
"""
