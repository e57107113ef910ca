"""The tour: a million real lines through a cluster that loses a leader half-way.

    corpus.py   the input: every line of Python's standard library, or of one file
    tour.py     the steps, from the cluster's start to Spark's opinion
    sending.py  the lines, sent; what became of each
    reading.py  read back by a group, told as rows, and held against the input
    counted_by_spark.py   the lines, counted by Spark in a process of its own
    screen.py   progress while it runs, and the closing table

It is judged as any run is, by the invariants of `chaos/checkers`: what the clients were told, the
replicas' files, ZooKeeper's log and the brokers' journals. ``python -m logquake.chaos.demo [FILE]``
ends with status 0 only if they hold, every line was acked and read back once as it was sent, and
Spark counts what was sent.
"""
