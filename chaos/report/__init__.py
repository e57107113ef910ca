"""One run as a page that a person would rather look at than read: one file, nothing else needed.

series.py           rows to what is drawn: faults, elections, ISRs, rates and latencies over time
canvas.py           a stretch of time as pixels, and SVG around it
fault_chart.py      which faults stood when
partition_chart.py  leaders, ISRs and high watermarks
client_charts.py    how much was acked, and how long it took
card_tables.py      clients' report cards
page.py             the page around them, from page.html
templates.py        what pages share: style.css, verdicts.html
reporting.py        a run from its start to its page
"""
