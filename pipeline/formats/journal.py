"""What brokers, clients and the harness wrote down: format("logquake.journal").

All in rows of one schema, which is a history's, from files of JSON lines or Parquet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource

from logquake.pipeline.formats.files import FilesReader
from logquake.pipeline.options.values import OptionError, by_known_name, path_of

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import StructType

_SCHEMA = (
    "at_us bigint, process string, sequence bigint, what string, subject string, epoch bigint, "
    "offset bigint, value bigint, values array<bigint>, key string, group string, before string, "
    "after string, why string, caused_by bigint"
)
_SUFFIXES = (".jsonl", ".parquet")


class JournalDataSource(DataSource):
    """Option: ``path``, of a file, or of a folder with such files in it or below.

    Raises OptionError for others.
    """

    @classmethod
    def name(cls) -> str:
        return "logquake.journal"

    def schema(self) -> str:
        return _SCHEMA

    def reader(self, schema: StructType) -> FilesReader[Path]:  # noqa: ARG002  # Spark's signature
        return FilesReader(find_files(self.options), read_rows, _size)


def _size(file: Path) -> int:
    return file.stat().st_size


def find_files(options: Mapping[str, str]) -> list[Path]:
    given = by_known_name(options, ("path",))
    path = path_of(given, "of a run, a cluster, a folder or a file")
    found = [path] if path.is_file() else path.rglob("*")
    files = sorted(file for file in found if file.suffix in _SUFFIXES)
    if not files:
        raise OptionError(f"{path}: no file there or below that ends in {' or '.join(_SUFFIXES)}")
    return files


def read_rows(path: Path) -> Iterator[pa.RecordBatch]:
    """Raises HistoryError, OSError."""
    import pyarrow as pa

    from logquake.chaos.history.parquet import SCHEMA

    for batch in _batches(path):
        table = pa.Table.from_batches([batch]).cast(SCHEMA)  # of no dictionaries
        # Spark takes each column of a Python source to be nullable, and no other schema than that.
        for group in table.to_batches():
            yield pa.RecordBatch.from_arrays(group.columns, names=group.schema.names)


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    from logquake.chaos.history.line_columns import read_line_columns
    from logquake.chaos.history.lines import is_of_journal
    from logquake.chaos.history.parquet import groups_of, read_columns
    from logquake.chaos.history.reader import read_file

    if path.suffix == ".parquet":
        return read_columns(path)
    with path.open("rb") as file:
        if is_of_journal(file.readline()):
            return groups_of(read_file(path))
    return read_line_columns([path])
