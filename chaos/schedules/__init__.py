"""What is broken when: drawn from a seed, kept in a file, shrunk.

schedule.py  faults, each with its beginning and its length
storm.py     how many faults of which kinds, in a file
drawing.py   a storm and a seed to a schedule
aims.py      the drawn fault of each kind: its victims, its figures
shrinking.py the fewest faults with which a run still fails
suspects.py  which to try first, and without pauses

A seed fixes the schedule, and nothing else: which fault begins when, to the millisecond. What
processes and clients do between two faults is up to the machine, so a run that is done again may
end otherwise. Where the same seed has to mean the same run, to the last message, tests/sim is the
place: a whole cluster in one thread, with its own clock.
"""
