r"""Characters that a shell makes awkward: ``\t``, ``\n``, ``\x1f``."""

from __future__ import annotations

import re

from logquake.cluster.errors import ClusterError

_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_NAMED = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "\\": b"\\"}


def unescaped(text: str) -> bytes:
    """Raises ClusterError for an escape that is none, or a backslash at the end."""
    pieces: list[bytes] = []
    position = 0
    for found in _ESCAPE.finditer(text):
        pieces.append(text[position : found.start()].encode())
        pieces.append(_meaning(found))
        position = found.end()
    rest = text[position:]
    if rest.endswith("\\"):
        raise ClusterError(f"{text!r} ends with a backslash: write \\\\ for one")
    return b"".join([*pieces, rest.encode()])


def _meaning(found: re.Match[str]) -> bytes:
    if found[1]:
        return bytes.fromhex(found[1])
    if found[2] not in _NAMED:
        raise ClusterError(f"{found[0]!r} is no escape: write \\n, \\t, \\r, \\0, \\\\ or \\xNN")
    return _NAMED[found[2]]
