"""The calls of tests/compat/java/clients that are an administrator's, made with our admin client.

A module a section, each call under the name that it has there, its outcome in Java's words.
"""
