"""Jobs on Spark, each a command of `logquake.pipeline.__main__`.

counting.py   the demo's: what a topic holds, by key
lake/         topics into Parquet files, each row once
replay.py     a lake's rows back into topics
mirror.py     topics into those of another cluster
audit/        a chaos run's history judged, however long it is
errors.py     what ends a job, in a line
topic_arguments.py, writing_arguments.py, client_config.py  arguments that several of them take
target_topics.py  topics made where they are missing; mirrored_topics.py: as those of a source
pacing.py     so many rows a second at most
transaction_time.py  so many rows that a transaction lasts for them
"""
