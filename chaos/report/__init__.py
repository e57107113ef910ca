"""One run as a page that a person would rather look at than read: one file, nothing else needed.

series.py   rows to what is drawn: faults, elections, ISRs, rates and latencies over time
charts.py   that as SVG
reporting.py a run from its start to its page
page.py     the page around it, from page.html
"""
