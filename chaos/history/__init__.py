"""What everybody saw: clients, brokers and the harness, in rows of one schema.

rows.py      a row, its kinds, and what each of its fields means for them
numbers.py   the numbers of sends, into records and out of them again
lines.py     rows as lines of JSON and back; lines of brokers' journals as the same rows
writer.py    writes them as they happen: killed at any byte, a process leaves a readable file
reader.py    the rows of many files by time, in the memory of one row each
parquet.py   the same as one Parquet file, in columns
line_columns.py  files of lines as such columns
fault_spans.py   faults from their beginnings to their ends
outcomes.py  what can become of a send
"""
