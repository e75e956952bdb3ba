"""What the tools in `.ci/` share: bounded child processes, clean-up and virtual environments.

Every child runs in a session of its own, so that ending it also ends whatever it started,
and every wait has a deadline that fails.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

GRACE_SECONDS = 5
INSTALL_SECONDS = 900
SHOWN_CHARACTERS = 2000

# Variables of a CI job or of the calling shell that change what a tool under test does.
_LEAKING_PREFIXES = ("GITHUB_", "RUNNER_", "MCP_CASSETTE_", "PRE_COMMIT", "PYTEST_", "GIT_")
_LEAKING_NAMES = ("CI", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "NO_COLOR", "FORCE_COLOR")


class Failure(Exception):
    """A step failed; the text is what the user reads."""


def plain_environment() -> dict[str, str]:
    """The environment without what a CI job or a hook adds."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_LEAKING_PREFIXES) and name not in _LEAKING_NAMES
    }


def signals_end_the_program() -> None:
    """Turns SIGTERM and SIGHUP into an exit that runs `finally` blocks."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A temporary folder that is gone afterwards.

    Its name is short: recorded sessions quote it, and a long random name is reported as a
    possible secret, rightly.
    """
    folder = Path(tempfile.mkdtemp(prefix="mcp-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """Ends a child and all that it started, first politely."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS)
            if not _group_is_alive(process.pid):
                return


def _group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def run_bounded(
    command: Sequence[str | Path],
    seconds: float,
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    check: bool = True,
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command to its end, or ends its whole group at the deadline and fails."""
    words = [str(word) for word in command]
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env=dict(plain_environment() if env is None else env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        stdout, stderr = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        end_group(process)
        text = _said_so_far(process)
        raise Failure(f"no end after {seconds:g} s: {' '.join(words)}\n{text}") from None
    finally:
        end_group(process)
    if check and process.returncode != 0:
        text = (stdout + stderr).decode("utf-8", "replace").strip()
        raise Failure(f"exit {process.returncode}: {' '.join(words)}\n{text}")
    return subprocess.CompletedProcess(words, process.returncode, stdout, stderr)


def _said_so_far(process: subprocess.Popen[bytes]) -> str:
    """The end of what an ended child printed; a pipe that something still holds is let go."""
    try:
        stdout, stderr = process.communicate(timeout=GRACE_SECONDS)
    except subprocess.TimeoutExpired as pending:
        stdout, stderr = pending.stdout or b"", pending.stderr or b""
    return (stdout + stderr).decode("utf-8", "replace")[-SHOWN_CHARACTERS:]


def virtual_environment(folder: Path, *requirements: str) -> Path:
    """Makes a virtual environment with the requirements; returns its `bin` folder."""
    run_bounded([sys.executable, "-m", "venv", folder], INSTALL_SECONDS)
    scripts = folder / "bin"
    pip = [scripts / "python", "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    run_bounded([*pip, *requirements], INSTALL_SECONDS)
    return scripts
