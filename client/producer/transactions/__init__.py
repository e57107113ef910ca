"""Transactions of a producer: what is written counts when it is committed (TransactionManager).

    producer_states.py how it stands with a producer's transactions, and what follows what
    operation.py    a call of the program's that waits for brokers
    verdicts.py     what an answer means
    question.py     what is asked of a broker, and in which order
    coordinators.py who looks after a transactional id, or a group
    producer_ids.py asking for the producer's id, and for its next epoch
    enlisted.py     which partitions are part of a transaction; making them so
    offsets.py      a group's offsets as part of it
    ending.py       committing and aborting
    course.py       the producer's present state, and what changes it
    numbering.py    what may be sent, and by which sequence
    transactions.py what the program may do
    whom.py         whom to ask
    requests.py     asking, one question at a time, and taking the answers
    steps.py        the program's calls, each until it is answered

Caveat: it is up to clients of 3.9; of KIP-890 it knows the errors, and not the second part.
"""
