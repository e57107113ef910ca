"""Requests to leaders about positions and offsets (Kafka's OffsetFetcher).

leader_requests.py    requests to the leaders of partitions, one per broker
offset_lists.py       ListOffsets: its requests, and what responses mean
epoch_ends.py         OffsetForLeaderEpoch: the same
position_requests.py  requests for partitions that cannot be read until their position is settled
resets.py             ...because they have none: where the log begins or ends
validations.py        ...because the leader changed: whether its log is still the one that was read
offset_search.py      offsets that a program looks up: by time, the beginning, the end
end_looks.py          the end of a partition, requested for its lag without anybody waiting
"""
