"""How a call's requests reach brokers, and are retried until the call's deadline.

enquiries.py      all requests in progress, retried until a call's deadline
enquiry.py        one request of a call, and its progress
generators.py     the generators of calls, each run up to its next request
keyed.py          calls with keys that each belong to some broker
leaders.py        ...the leader of a partition
coordinators.py   ...the coordinator of a group or of a transactional id
by_broker.py      calls that ask every broker
asks.py           one request, and which broker it is for
results.py        the results of a call, item by item
refusals.py       errors of a request as a whole
quotas_of_changes.py  THROTTLING_QUOTA_EXCEEDED (KIP-599)
"""
