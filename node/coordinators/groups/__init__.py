"""The group coordinator: who the members of a group are, and how far it has come.

membership/        the members of a classic group: joining, assigning, leaving
"""
