"""The folder and the environment in which the tools in `.ci/` run a real MCP server."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

from bounded import plain_environment, run_bounded

GIT_SECONDS = 60
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
# A commit made with a fixed date has a fixed name, so that two workspaces answer alike.
COMMIT_DATE = "2026-01-02T03:04:05+0000"


def client_environment(workspace: Path) -> dict[str, str]:
    """The six variables with which SDK clients start a server, with a home of its own."""
    present = {
        name: os.environ[name] for name in ("LOGNAME", "PATH", "SHELL", "TERM", "USER") if name in os.environ
    }
    return present | {"HOME": str(workspace / "home")}


def make_workspace(folder: Path, *, author: str = "script@example.com") -> Path:
    """A folder with a few files and a repository with one commit of the author and one change."""
    repository = folder / "repository"
    (folder / "home").mkdir(parents=True)
    repository.mkdir()
    (folder / "notes.md").write_text("# Notes\nsecond line\nthird: Ελληνικά, 中文\n", encoding="utf-8")
    (folder / "pixel.png").write_bytes(base64.b64decode(PIXEL))
    notes = repository / "notes.md"
    notes.write_text("one\ntwo\n", encoding="utf-8")
    (folder / "home" / ".gitconfig").write_text(f"[user]\n\tname = script\n\temail = {author}\n")
    env = plain_environment() | {
        "HOME": str(folder / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_DATE": COMMIT_DATE,
        "GIT_COMMITTER_DATE": COMMIT_DATE,
    }
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Start"]):
        run_bounded(["git", *words], GIT_SECONDS, cwd=repository, env=env)
    notes.write_text("one\ntwo, changed\n", encoding="utf-8")
    return folder


def filled(value: Any, workspace: Path) -> Any:
    """A value of a data file with the session's folder put in."""
    if isinstance(value, str):
        return value.replace("{workspace}", str(workspace))
    if isinstance(value, list):
        return [filled(member, workspace) for member in value]
    if isinstance(value, dict):
        return {name: filled(member, workspace) for name, member in value.items()}
    return value
