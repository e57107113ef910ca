"""What is wrong with a configuration."""

from __future__ import annotations


class SettingsError(Exception):
    """One line that names the key, its value and what is allowed. Exit status 2 at the shell."""
