"""The transaction coordinator (KIP-98): whose transactional id it is, and how its transaction ends.

    states.py            how far a transaction is, one type a state
    metadata.py          what is known of a transactional id, and what is being written about it
    transitions.py       what becomes of it
    rules.py             what a request makes of it: an error, or what is to be written
    listing.py           what ListTransactions shows
    log_records.py       records of __transaction_state
    partition_state.py   what the log of one of its partitions says
    coordinator.py       what clients and brokers ask
    decisions.py         into the log, to the partitions, into the log that it is complete
    deleted_topics.py    whose partitions need no marker any more
    marker_requests.py, marker_channel.py, marker_sender.py   markers to the partitions' leaders
    upkeep.py            time-outs, expiry of ids, what an earlier coordinator left undone
    recurring.py         work that comes back while there is some
    composition.py       how the parts hang together

All above log_records.py is pure, but for Transaction, which says what may be changed when.
Ordering contract: see coordinator.py. docs/architecture/transactions.md is the tour.
"""
