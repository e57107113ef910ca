"""What everybody saw: clients, brokers and the harness, in rows of one schema.

rows.py      a row, its kinds, and what each of its fields means for them
numbers.py   the numbers of sends, into records and out of them again
outcomes.py  what became of every send of one producer, in arrays
"""
