"""What columns a row has, besides topic, date and hour, by which a lake's files are laid out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from logquake.pipeline.options.values import OptionError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

LAYOUT = ("topic", "date", "hour")
MALFORMED = "_malformed"


@dataclass(frozen=True, slots=True)
class Shape:
    """`schema` is that of the values' JSON, in Spark's words (`id BIGINT, name STRING`); "" leaves
    records as they are. Beside JSON's columns the record's own begin with an underscore, and a
    value that does not fit the schema is kept whole, in `_malformed`.
    """

    schema: str = ""

    @property
    def name(self) -> str:
        """What a lake is known by: its rows have one shape."""
        return f"json: {self.schema}" if self.schema else "raw"

    @property
    def partition(self) -> str:
        return self._own("partition")

    @property
    def offset(self) -> str:
        return self._own("offset")

    def rows(self, records: DataFrame) -> DataFrame:
        """Of records as the source has them. Raises OptionError."""
        from pyspark.sql import functions

        names = ("partition", "offset", "timestamp", "key", "headers")
        own = [functions.col(name).alias(self._own(name)) for name in names]
        at = functions.col("timestamp")
        layout = [
            functions.col("topic"),
            functions.to_date(at).alias("date"),
            functions.hour(at).alias("hour"),
        ]
        return records.select(*own, *self._content(), *layout)

    def _own(self, name: str) -> str:
        return f"_{name}" if self.schema else name

    def _content(self) -> list[Column]:
        from pyspark.sql import functions

        if not self.schema:
            return [functions.col("value")]
        fields = self._fields()
        options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": MALFORMED}
        text = functions.col("value").cast("string")
        found = functions.from_json(text, fields, options)
        content = [found[name].alias(name) for name in fields.names if name != MALFORMED]
        return [*content, functions.coalesce(found[MALFORMED], _if_not_one(text)).alias(MALFORMED)]

    def check(self) -> None:
        """Raises OptionError for a schema that is none."""
        if self.schema:
            self._fields()

    def _fields(self) -> StructType:
        from pyspark.errors import PySparkException
        from pyspark.sql.types import StringType, StructType

        try:
            fields = StructType.fromDDL(self.schema)
        except PySparkException:
            fields = None
        if not isinstance(fields, StructType):
            raise OptionError(f"no schema of Spark's, as `id BIGINT, name STRING`: {self.schema}")
        taken = [name for name in fields.names if name in LAYOUT or name.startswith("_")]
        if taken:
            raise OptionError(f"names that the lake has itself: {', '.join(taken)}")
        return fields.add(MALFORMED, StringType())


def _if_not_one(text: Column) -> Column:
    """The text unless it is one value of JSON's: Spark takes the first, whatever comes behind it,
    and of an empty text none, and says of neither that it is malformed.
    """
    from pyspark.sql import functions

    # What ends the list is no part of the text: one that closes it itself has no such end.
    length = functions.length(text).cast("string")
    listed = functions.concat(
        functions.lit("["), text, functions.lit(","), length, functions.lit("]")
    )
    found = functions.size(functions.from_json(listed, "ARRAY<STRING>"))
    is_one = functions.coalesce(found, functions.lit(0)) == 2
    return functions.when(~is_one, text)
