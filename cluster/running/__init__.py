"""A cluster that runs, as an object: what can be waited for, asked of it, and done to it."""
