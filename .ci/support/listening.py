"""A child process that listens on a port of its own choice, or on one that it is told."""

from __future__ import annotations

import contextlib
import random
import re
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from bounded import GRACE_SECONDS, SHOWN_CHARACTERS, Failure, end_group, plain_environment

START_SECONDS = 60
END_SECONDS = 20
_PORTS = iter(random.sample(range(20_000, 32_000), 2_000))
_ADDRESS = re.compile(r"\bat (http://[^\s]+)")


class Listening:
    """A server, a recorder or a replay, from the moment when it can be connected to.

    Without `url`, its standard error has to say where it listens, as ` at http://…`; that is
    also what `record` and `serve` print.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path,
        *,
        url: str | None = None,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.command = [str(word) for word in command]
        self.log = log
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                self.command,
                env=dict(plain_environment() if env is None else env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        try:
            self.url = self._wait_for(url)
        except BaseException:
            end_group(self._process)
            raise

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        end_group(self._process)

    def said(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace")

    def end(self, number: int = signal.SIGTERM) -> int:
        """Asks it to end, as a user would, and returns its exit code."""
        self._process.send_signal(number)
        try:
            return self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise Failure(f"no end {END_SECONDS} s after the signal{self._last_words()}") from None
        finally:
            end_group(self._process)

    def _wait_for(self, url: str | None) -> str:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise Failure(f"it ended at once with {self._process.returncode}{self._last_words()}")
            if url is None:
                if found := _ADDRESS.search(self.said()):
                    return found[1]
            elif _answers(url):
                return url
            time.sleep(0.02)
        raise Failure(f"it does not listen after {START_SECONDS} s{self._last_words()}")

    def _last_words(self) -> str:
        return f": {' '.join(self.command)}\n{self.said()[-SHOWN_CHARACTERS:]}"


def _answers(url: str) -> bool:
    host, port = url.split("/")[2].rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), GRACE_SECONDS).close()
    except OSError:
        return False
    return True


def free_port() -> int:
    """A port that nobody listens on, and none twice; for servers that have to be told one.

    It is below those that the system gives to outgoing connections: another connection could
    take one of these before the server does, and an attempt to connect to one can even reach itself.
    """
    for port in _PORTS:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise Failure("no port is free")
