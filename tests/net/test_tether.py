"""A held connection: what is told when a broker listens, ends, or never was there."""

from __future__ import annotations
