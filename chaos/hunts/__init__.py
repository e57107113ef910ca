"""Planted bugs, and whether they are caught: each by a run that breaks what it breaks.

finding.py   pure: a judgement to whether the bug was found, by what, and with its cause named
hunting.py   a bug's scenario, played on brokers that have it
scenarios/   what is done to the cluster, a file for one bug or for several

What the bugs are is the list of planted/bugs.py. A hunt's scenario shows nothing where no bug is
planted: every invariant holds (`logquake chaos hunt BUG --sound`).
"""
