"""A Disk that misbehaves as it was ordered.

strikes.py      which order strikes which call: counts, paths (patterns.py)
replacing.py    how a file is replaced, step by step
faulty_disk.py  the Disk and its files: whatever is called, the orders have a say first
"""
