"""All faults, read by the name of their kind."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from logquake.chaos.faults.clients import KillClient, PauseClient
from logquake.chaos.faults.links import (
    Cut,
    Delay,
    DropAfter,
    HalfOpen,
    Inject,
    Isolate,
    Partition,
    Reset,
    Throttle,
)
from logquake.chaos.faults.machines import (
    ClockJump,
    ClockSkew,
    CrashAt,
    CutFile,
    DiskError,
    DiskFull,
    FileLimit,
    FlipBit,
    LoseFiles,
    LoseLogDir,
    LoseSegment,
    MemoryLimit,
    PowerLoss,
    ReadOnlyDisk,
    SlowDisk,
    SlowStart,
    Starve,
    TornWrite,
)
from logquake.chaos.faults.membership import (
    AddBroker,
    DeleteController,
    ExpireSession,
    RemoveBroker,
    Replace,
    Wipe,
)
from logquake.chaos.faults.processes import Kill, Pause, Restart, RestartStorm, Stop
from logquake.chaos.faults.zookeeper import KillZooKeeper, PauseZooKeeper

AnyFault = Annotated[
    Kill
    | Stop
    | Pause
    | Restart
    | RestartStorm
    | Partition
    | Isolate
    | Cut
    | Delay
    | Throttle
    | Reset
    | DropAfter
    | HalfOpen
    | Inject
    | DiskFull
    | SlowDisk
    | DiskError
    | ReadOnlyDisk
    | CrashAt
    | TornWrite
    | FlipBit
    | LoseFiles
    | LoseSegment
    | CutFile
    | PowerLoss
    | LoseLogDir
    | ClockSkew
    | ClockJump
    | Starve
    | SlowStart
    | MemoryLimit
    | FileLimit
    | KillZooKeeper
    | PauseZooKeeper
    | ExpireSession
    | DeleteController
    | AddBroker
    | RemoveBroker
    | Wipe
    | Replace
    | PauseClient
    | KillClient,
    Field(discriminator="kind"),
]
