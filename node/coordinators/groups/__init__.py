"""The group coordinator: who the members of a group are, and how far it has come.

coordinator.py      GroupCoordinator: the terms in which this broker coordinates groups
group_partition.py  the state of one partition of __consumer_offsets: its groups, by replay
group.py            one group: its members and its offsets
member_manager.py   lets members join, be assigned and leave; describes, lists, deletes groups
terms.py            the terms that all of these act in
carrying_out.py     what events of members bring about: answers, records, the journal
alarms.py           when groups have to do something without being asked
membership/         the members of a classic group: joining, assigning, leaving
offset_manager.py   commits and fetches offsets
offset_removal.py   deletes and expires them
offsets/            the offsets of one group
"""
