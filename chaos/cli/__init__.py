"""``logquake``: the commands of the launcher, and ``logquake chaos`` on top of them.

app.py       the whole tree of commands
commands.py  chaos list, show, run, replay, shrink, report, card, bugs, hunt
cards.py     clients' report cards
hunts.py     chaos bugs, hunt
shrinks.py   chaos shrink
starting.py  a scenario from its name, a seed and a folder to a run and what it is worth
printing.py  what is said at the end

As with the launcher's commands, a module imports what it needs when a command runs: help comes at
once. Statuses of run, replay and shrink: `chaos/runs/judgement.py:ExitStatus`.
"""

from logquake.chaos.cli.app import main

__all__ = ["main"]
