"""Times in files that people write: ``3s``, ``500ms``, ``5m``, or a bare number of seconds."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer

from logquake.cluster.cli.times import seconds
from logquake.cluster.errors import ClusterError

MILLISECONDS = 1_000


def _read(written: object) -> object:
    if not isinstance(written, str):
        return written
    try:
        return seconds(written)
    except ClusterError as error:
        raise ValueError(str(error)) from None


def written(seconds: float) -> str:
    """As it is written, to the millisecond."""
    return f"{round(seconds, 3):.10g}s"


Seconds = Annotated[float, BeforeValidator(_read), Field(ge=0), PlainSerializer(written)]
