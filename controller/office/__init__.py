"""Who is the controller, and what a controller does first and next.

office.py       standing for election, terms, what ends them
candidacy.py    winning /controller, or taking it over
succession.py   the vigil over the broker whose controller is in office
failover.py     the first acts of a term (KafkaController.onControllerFailover)
watches.py      which event a fired watch stands for
event_queue.py  one event at a time (ControllerEventManager); what outlives a session
"""
