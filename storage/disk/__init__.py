"""Everything that storage asks of a file system, and who answers.

seam.py            Disk, File, Lock: what may be asked
real_disk.py       the machine's file system
read_only_disk.py  the same for tools that only look
relocated_disk.py  a folder that lies under another name for a while (-future copies)
"""
