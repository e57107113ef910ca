"""The faults and waits of a cluster for programs in any language: HTTP on loopback, JSON both ways.

    GET    /               what can be asked, with its arguments
    GET    /status         members, controller, leaders and ISRs
    POST   /do/NAME        a deed (deeds.py): ``{"target": 2}``; ``"for_s": 10`` heals itself
    POST   /wait/NAME      a wait (waits.py): ``{"topic": "orders", "partition": 0, "size": 3}``
    GET    /faults         those that stand, begun here
    DELETE /faults         heal all of them, DELETE /faults/ID one

Every answer is an object. A fault's has its id, which a wait's ``since`` takes. An error is
``{"error": line}``: 400 for arguments that make no sense, 404 for what is not there, 409 for what
can't be done now, 504 for a wait that ran out of time.

Whoever asks says ``Authorization: Bearer TOKEN``; both are in what ``logquake env`` prints. A page
in a browser gets nowhere: the Host has to be ours, and an Origin is refused.

    application.py  requests to calls, outcomes to answers
    arguments.py    JSON to what a method takes
    guard.py        who may ask
    server.py       the sockets
    process.py      the supervisor's member that serves it
"""
