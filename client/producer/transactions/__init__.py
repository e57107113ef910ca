"""A producer's transactions: records count once they are committed (TransactionManager).

    producer_states.py the states of a transactional producer, and their order
    operation.py    a call of the program that waits for brokers
    verdicts.py     what a response means
    question.py     one request to a coordinator, and the order of these
    coordinators.py the coordinators of a transactional id, and of groups
    producer_ids.py requests for the producer's id, and for its next epoch
    enlisted.py     which partitions are part of a transaction, and adding them
    offsets.py      a group's offsets as part of it
    ending.py       committing and aborting
    course.py       the producer's present state, and what changes it
    numbering.py    what may be sent, and with which sequence
    transactions.py what the program may do
    whom.py         which broker is asked
    requests.py     sends one request at a time, and handles the responses
    steps.py        the program's calls, each until it is answered

Caveat: it corresponds to clients of 3.9; of KIP-890 it knows the errors, but not the second part.
"""
