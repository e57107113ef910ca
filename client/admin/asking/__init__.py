"""How a call's questions reach brokers, and are repeated until they are answered or time is up.

enquiries.py      all that is being asked, tried again until a call's deadline
enquiry.py        what one call has asked, and has in flight
generators.py     the generators of calls, each run up to its next question
keyed.py          calls about things of which each has a broker of its own
leaders.py        ...the leader of a partition
coordinators.py   ...the coordinator of a group or of a transactional id
by_broker.py      calls that every broker is asked
asks.py           one request, and which broker it is for
results.py        what a call comes to, item by item
refusals.py       errors of a request as a whole
quotas_of_changes.py  THROTTLING_QUOTA_EXCEEDED (KIP-599)
"""
