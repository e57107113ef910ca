"""Fetching records, ahead of the polls that take them (Kafka's Fetcher, AbstractFetch).

fetching.py         which broker is asked for which partitions, and what its answer brings
fetch_requests.py   sends those requests
sessions.py         fetch sessions: a request names only what has changed (KIP-227)
batches.py          the batches of an answer, and what a reader may see of them
aborted.py          leaves out the records of aborted transactions
completed.py        one partition's share of an answer
buffer.py           what was fetched and not handed out yet
collecting.py       what a poll takes out of the buffer, and the errors that it raises
taken.py            what a poll has taken, and gives back if it is interrupted
statistics.py       how much was fetched and handed out, under Kafka's names
"""
