"""Search in four steps: encode the query, find candidates, score them, explain the best.

`searcher.py` takes a query through them; each step is the file of its name.
"""
