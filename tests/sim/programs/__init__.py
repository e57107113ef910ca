"""Programs in the simulated cluster that use the clients' own cores, and what they are promised.

`client_driver.py` drives a core in the place of sockets; what passes between it and the brokers is
watched there, what programs do and are told is noted in `Records`, and judged after each event.
"""
