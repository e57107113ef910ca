"""What is to be done to a cluster, and what must be seen: files that anybody can read and write.

scenario.py      the whole of one: set-up, workloads, faults, expectation, explanation
setup.py         the cluster, its topics, its workloads
clients.py       whose clients its programs run over
steps.py         faults one after the other, each waited for
patterns.py      which rows of a history are meant
expectation.py   what must be seen, and what of it was not
measures.py      what was lost, and what is there twice
memberships.py   how it went for the members of groups
pace.py          how fast a run broke things, and how many at once
skips.py         what a reader was never handed, though it came past
catalogue_state.py what a scenario lacks before it can be run here
files.py         scenarios to text and back; a file of one's own, or one of the catalogue
catalogue/       those that come with logquake, one file each

A scenario breaks a cluster in one of three ways: by ``steps``, which wait for each other's effects
and so show the same thing each time; by a ``schedule`` of faults at times; or by a ``storm``, from
which a seed draws a schedule.
"""
