"""Who of a group reads which partitions: the leader decides, with the assignor that all know.

    assignor.py           what an assignor is; users may bring their own
    subscriptions.py      what members tell each other, and its bytes
    racks.py              whose rack has a replica of which partition (KIP-881)
    range.py              a run of each topic's partitions for every member
    round_robin.py        one partition after the other, around the members
    sticky.py             balanced, and as before where it can be; gives all up before it joins
    cooperative_sticky.py the same, and only what moves is given up (KIP-429)
    claims.py             which of what members say they own is theirs
    constrained.py        sticky, where all want the same topics: linear
    general.py            sticky, where they do not: moves one partition after another
    user_data.py          what both say in their own bytes
    movements.py          what has moved, so that nothing is moved in circles

All are functions of their arguments. The results are Kafka's (clients 3.9), held against its Java
classes. Where Kafka goes by the order of a Java HashMap, these go by member id and by partition:
the same sizes and as much kept, not always the same partition with the same member.
"""
