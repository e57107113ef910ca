"""Transactional batches on their way into a log: first their coordinator is asked (KIP-890).

``appends`` takes what Produce brings, ``verification`` says what has to be asked of the
coordinator, and ``add_partitions_to_txn`` asks it.
"""
