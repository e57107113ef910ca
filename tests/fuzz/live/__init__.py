"""Mutated requests of every advertised key and version, sent to a live cluster.

contents.py    valid requests about things that are there to be hurt
fitness.py     which requests may be sent: not those that do harm by right
inputs.py      a valid request, damaged, and what the broker has to do about it
over_quota.py  strangers who use more than they may, and the waits that they are told
strangers.py   connections that send many of them at once, and hold the answers against that
bystander.py   a client that behaves, beside them
vitals.py      memory and descriptors of the brokers, their journals, their last words
campaign.py    all of it, for so many requests

    python -m tests.fuzz.live --requests 100000 --seed 1 --brokers 3 --secure
    python -m tests.fuzz.live --requests 100000 --seed 1 --quota
"""
