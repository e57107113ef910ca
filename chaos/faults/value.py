"""What all faults have in common."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, model_serializer
from pydantic_core.core_schema import SerializerFunctionWrapHandler

Target = str  # a broker id, or one of cluster/observing/targets.py:FORMS
End = str  # of a link: broker-2, clients, zookeeper


class FaultValue(BaseModel):
    """What is to be broken. ``kind`` is its first field in a file.

    What is as the class has it, is not written: files stay short.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)

    kind: str

    @model_serializer(mode="wrap")
    def _without_defaults(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        everything: dict[str, Any] = write(self)
        said = {
            name: value
            for name, value in everything.items()
            if name != "kind" and getattr(self, name) != fields[name].default
        }
        return {"kind": self.kind, **said}

    def arguments(self) -> dict[str, Any]:
        """What was said of it, without its kind."""
        return {
            name: value for name, value in self.model_dump(mode="json").items() if name != "kind"
        }

    def __str__(self) -> str:
        """``kill leader:orders/0``, ``delay clients to broker-2 ms=200``."""
        said = self.arguments()
        ends = [str(said.pop(name)) for name in ("source", "target") if name in said]
        rest = [f"{name}={value}" for name, value in said.items()]
        return " ".join([self.kind, " to ".join(ends), *rest]).replace("  ", " ").strip()
