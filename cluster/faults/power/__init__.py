"""What a loss of power takes back, by the same rules in memory and on the machine's disk.

unsynced.py       the rules: which pages, sizes and names are left of what no sync covered
folder.py         the names in a folder, now and on the platter
recorded_file.py  a file's old pages since its last sync
record.py         what is known of all files and folders, in a file that outlives the process
recorded_disk.py  the Disk of a broker that is recorded
taking_back.py    what the supervisor does to the files of a broker whose power was lost

The record is of a machine: it goes on from process to process, since kill -9 leaves what was
written in the system's cache, and a loss of power that comes later takes it from there.
"""
