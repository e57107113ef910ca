"""A chaos run judged by Spark, however long its history is, and told as a page with plots.

runs.py       what is audited: a run's folder, or a Parquet file of rows beside a cluster's state
judging.py    the invariants of chaos/checkers, partition by partition
looking.py    what the page shows, counted by Spark: rates, lag, silences, duplicates, divergence
standings.py  lags over time, out of what was counted
charts.py     lanes of lines, bars and bands, in the way of chaos/report
plots.py      some of them by themselves, for notebooks
page.py       verdicts and charts in one file, from audit.html
command.py    the job's arguments
"""
