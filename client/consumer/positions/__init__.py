"""What leaders are asked about positions and offsets (Kafka's OffsetFetcher).

leader_requests.py    requests to the leaders of partitions, one a broker
offset_lists.py       ListOffsets: what is asked, and what an answer says
epoch_ends.py         OffsetForLeaderEpoch: the same
position_requests.py  asks about partitions that cannot be read until their position is settled
resets.py             ...because they have none: where the log begins or ends
validations.py        ...because the leader changed: whether its log is still the one that was read
offset_search.py      offsets that a program asks for: by time, the beginning, the end
end_looks.py          the end of a partition, asked for its lag while nobody waits
"""
