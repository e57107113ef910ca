"""Clients whose calls are awaited, on asyncio's loop, without a thread.

futures.py   what one comes to, awaited
loops.py     the loop's part
"""
