"""What a program's send does until its record is in a batch (KafkaProducer.doSend).

preparing.py      calls the program's interceptors.py and serializing.py for a record
of_records.py     appends it, in time; of_rows.py: many at once, past those two
admitting.py      whether the accumulator may take something, and what that waits for
topic_waits.py    waits until a topic is known; memory_waits.py: until there is memory
"""
