"""A scenario from its set-up to its verdict.

folder.py       what a run leaves behind, and where
programs.py     the workloads' processes
conductor.py    begins faults, heals them, and writes both into the history
playing.py      a schedule, or steps, on a cluster that runs
conditions.py   what a step waits for
tally.py        histories and journals, read while they are written
kafka_journals.py  what stands in for the journals of Apache Kafka's brokers
reading_back.py each topic, read from its beginning to its end
status.py       what is shown of a run while it goes on
telling.py      that, and what happens, in lines for people
quiescing.py    all is healed, the cluster is whole again, the programs have ended
outcome.py      what went other than planned
judgement.py    verdicts to a status
judging.py      evidence to verdicts
fewest.py       the fewest faults with which a run still fails
run.py          all of it, in order
screen.py       what a person sees meanwhile
"""
