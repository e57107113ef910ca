"""The report card of whoever used a cluster while it was broken: what each client did, by fault.

clients.py    rows of histories and of watched links to what each client did, and when
measuring.py  that, and the faults, to figures
card.py       the figures, as a document
limits.py     what of them is too much
grouping.py   many faults as the worst of each kind
table.py      the card for people
places.py     where the sends of histories came to lie
stored.py     what topics hold twice, or in another order than it was written

A client that writes a history is judged by that; of any other one the links tell, if somebody asked
them to watch (`cluster/links/requests/watching.py`). What happens within some seconds after a fault
is put down to it; where faults overlap, to each of them.
"""
