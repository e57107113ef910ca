"""The tour: a million real lines through a cluster that loses a leader half-way.

    corpus.py   the input: every line of Python's standard library, or of one file
    tour.py     the steps, from the cluster's start to Spark's opinion
    checks.py   what was acked against what was read: lost, duplicated, out of order
    replicas.py replicas' files against each other, byte by byte
    screen.py   progress while it runs, and the closing table

``python -m logquake.chaos.demo [FILE]`` ends with status 0 only if nothing acked was lost,
duplicated or reordered, the replicas' files agree, and Spark counts what was sent.
"""
