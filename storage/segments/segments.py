"""The segments of one log, by base offset; the last one is active.

Copy-on-write: ``Segments.current`` is an immutable SegmentList that every change replaces as a
whole, so a reader that took one goes on with it undisturbed while segments are rolled, deleted or
cleaned. The files of a segment that left the list stay readable through their open descriptors.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from logquake.storage import file_names as names
from logquake.storage.disk.seam import Disk
from logquake.storage.log_config import LogConfig
from logquake.storage.segments.open_files import OpenFiles
from logquake.storage.segments.segment import Segment


class SegmentList:
    """Segments that ascend in base offset; never changed."""

    __slots__ = ("_base_offsets", "segments")

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self.segments = tuple(segments)
        self._base_offsets = tuple(segment.base_offset for segment in self.segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def __len__(self) -> int:
        return len(self.segments)

    @property
    def size(self) -> int:
        """Bytes of all batches."""
        return sum(segment.size for segment in self.segments)

    def from_offset(self, offset: int) -> tuple[Segment, ...]:
        """The segment that offset belongs to, and all later ones."""
        return self.segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def after(self, segment: Segment) -> Segment | None:
        """The segment that begins next after this one, whether or not this one is here."""
        index = bisect_right(self._base_offsets, segment.base_offset)
        return self.segments[index] if index < len(self.segments) else None

    def replaced(self, old: Sequence[Segment], new: Sequence[Segment]) -> SegmentList:
        """With new where old was, a run of neighbours. Raises ValueError where it is none."""
        first = self.segments.index(old[0])
        if self.segments[first : first + len(old)] != tuple(old):
            raise ValueError(f"the segments from {old[0].base_offset} on are no neighbours")
        return SegmentList(self.segments[:first] + tuple(new) + self.segments[first + len(old) :])


class Segments:
    """Never empty once the log is open. All writing methods raise OSError."""

    def __init__(
        self, disk: Disk, directory: str, config: LogConfig, open_files: OpenFiles | None = None
    ) -> None:
        """open_files bounds the descriptors of all logs that share it."""
        self.config = config  # of the segments to come
        self.current = SegmentList()
        self._disk = disk
        self._directory = directory
        self._open_files = open_files

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.current)

    def __len__(self) -> int:
        return len(self.current)

    @property
    def first(self) -> Segment:
        return self.current.segments[0]

    @property
    def active(self) -> Segment:
        return self.current.segments[-1]

    @property
    def size(self) -> int:
        return self.current.size

    def from_offset(self, offset: int) -> tuple[Segment, ...]:
        return self.current.from_offset(offset)

    def after(self, segment: Segment) -> Segment | None:
        return self.current.after(segment)

    def unsynced(self, recovery_point: int) -> tuple[Segment, ...]:
        """Those that are not wholly synced when everything before recovery_point is.

        The one that ends there is among them: while it was active its indexes were not synced.
        """
        return self.from_offset(max(0, recovery_point - 1))

    # Changing

    def open_existing(self, base_offsets: Iterable[int]) -> None:
        """Those that the folder holds, ascending."""
        self.current = SegmentList(
            self._shared(Segment.open(self._disk, self._directory, base_offset, self.config))
            for base_offset in base_offsets
        )

    def roll(self, base_offset: int) -> None:
        """Seal the active segment, if any, and begin the next.

        An empty one that begins at base_offset makes way for it: two cannot have one name.
        """
        if len(self):
            active = self.active
            if active.base_offset == base_offset and active.size == 0:
                self.replace([active], [self._create(base_offset)])
                return
            active.seal()
        self.current = SegmentList((*self.current.segments, self._create(base_offset)))

    def replace(self, old: Sequence[Segment], new: Sequence[Segment]) -> None:
        """Swap neighbours, all sealed, for others: retention puts none in their place, the cleaner
        one or more. The files are the caller's affair.
        """
        self.current = self.current.replaced(old, [self._shared(segment) for segment in new])

    def restart_at(self, base_offset: int) -> None:
        """One empty segment in place of all others; it is made first, to have one in any case."""
        old = self.current
        self.current = SegmentList([self._create(base_offset)])
        for segment in reversed(old.segments):
            if segment.base_offset != base_offset:
                segment.delete()

    def delete_after(self, offset: int) -> list[int]:
        """Delete the segments that begin after offset, latest first; their base offsets."""
        deleted = []
        while len(self) and self.active.base_offset > offset:
            segment = self.active
            self.current = SegmentList(self.current.segments[:-1])
            segment.delete()
            deleted.append(segment.base_offset)
        self._remove_unlisted_after(self.active.base_offset if len(self) else offset)
        return deleted

    def _remove_unlisted_after(self, offset: int) -> None:
        """A roll that failed left files: at the next start the log would seem to go on there."""
        found = self._disk.list(self._directory)
        for suffix in names.SEGMENT_SUFFIXES:
            for base_offset in reversed(names.offsets_with(found, suffix)):
                if base_offset > offset:
                    path = names.join(self._directory, names.offset_file(base_offset, suffix))
                    self._disk.remove(path)

    def release(self) -> None:
        for segment in self.current:
            segment.release()

    def _create(self, base_offset: int) -> Segment:
        return self._shared(Segment.create(self._disk, self._directory, base_offset, self.config))

    def _shared(self, segment: Segment) -> Segment:
        if self._open_files is not None:
            segment.share(self._open_files)
        return segment
