"""Looks at the file system that never raise, and what else every part of the answer uses."""

import os


def listed(folder: "str") -> "list[str]":
    """The names in a folder, sorted; empty when it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def text_of(path: "str", limit: "int" = 8 * 1024 * 1024) -> "str | None":
    """The text of a file, or None when it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return None


def working_folder() -> "str":
    """The working directory, or "" when it has been removed."""
    try:
        return os.getcwd()
    except OSError:
        return ""


def unique(items: "list[str]") -> "list[str]":
    """The items without repetitions, in order."""
    return list(dict.fromkeys(items))
