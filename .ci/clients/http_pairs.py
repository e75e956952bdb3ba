"""Clients and a server over HTTP: the sessions of one client, or of several at once.

What has to hold is the same as on stdio (pairs.py). The difference is who starts whom: here the
server, `record` and `serve` run before the clients come and are ended after they have gone.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bounded import Failure
from listening import Listening, free_port
from pairs import (
    HERE,
    Installed,
    Pair,
    Session,
    difference,
    judged,
    make_fresh,
    nothing_left,
    recorded_messages,
    run_client,
    same,
)
from workspace import client_environment

# A recording that a signal ends is saved, and `record` says so.
ENDED_BY_SIGNAL = 130
ASKING = ("ask_user", "ask_model", "ask_everything")


class HttpPair(Pair):
    """A client and a server that is reached over HTTP."""

    def server_start(self) -> tuple[list[str], dict[str, str], str]:
        """The command of the server, what it needs in its environment, and where it will be."""
        port = str(free_port())
        program, *arguments = [word.replace("{port}", port) for word in self.server["command"]]
        commands = self.installed.commands[self.server["environment"]]
        if arguments[0].endswith(".py"):
            arguments[0] = str(HERE / arguments[0])
        if arguments[0].endswith(".mjs"):
            arguments[0] = str(self.installed.npm / arguments[0])
        if program != "node":
            program = str(commands / program)
        env = {name: value.replace("{port}", port) for name, value in self.server.get("env", {}).items()}
        return [program, *arguments], env, f"http://127.0.0.1:{port}{self.server['path']}"


class Crowd:
    """One client, or several that come at once; they share a server, a workspace and a recording."""

    def __init__(self, pairs: list[HttpPair]) -> None:
        self.pairs = pairs
        self.first = pairs[0]
        for pair in pairs[1:]:
            pair.workspace = self.first.workspace

    def sessions(self, name: str, url: str) -> list[Session]:
        """Runs all clients on an address and waits for all of them."""
        target = {"url": url, "transport": self.first.server.get("transport", "http")}
        with concurrent.futures.ThreadPoolExecutor(len(self.pairs)) as pool:
            return list(pool.map(lambda pair: run_client(pair, name, target), self.pairs))


def planned_pair(
    client: dict[str, Any],
    server: dict[str, Any],
    servers: dict[str, dict[str, Any]],
    installed: Installed,
    *,
    suffix: str = "",
    skip: list[str] = [],  # noqa: B006 - never changed
) -> HttpPair:
    """The pair with the steps that make sense between these two."""
    known = servers[server["steps_of"]]
    server = {"eras": known["eras"], "elicited": known.get("elicited", {}), **server}
    modern = client.get("mode", "legacy") != "legacy" and "modern" in server["eras"]
    drop = [what for what in server.get("drop", []) if what != "asking" or not modern]
    server["steps"] = fitting(known["steps"], drop)
    return HttpPair(client, server, installed, suffix=suffix, skip=[*skip, *server.get("skip", [])])


def fitting(steps: list[dict[str, Any]], drop: list[str]) -> list[dict[str, Any]]:
    """The steps without what is to be dropped."""
    kept = []
    for step in steps:
        if "asking" in drop and asks(step) or "subscriptions" in drop and ("subscribe" in step or "unsubscribe" in step):
            continue
        if "progress" in drop:
            step = {name: value for name, value in step.items() if name != "progress"}
        if "together" in step:
            # Each call has a stream of its own: what comes on two of them comes in any order.
            more = ["progress"] if any(map(asks, step["together"])) else []
            step = {**step, "together": fitting(step["together"], drop + more)}
        kept.append(step)
    return kept


def asks(step: dict[str, Any]) -> bool:
    """Whether the server asks the client for something in this step."""
    return step.get("call") in ASKING


def compare_http(crowd: Crowd, *, direct_only: bool) -> str:
    """Direct twice, recorded, replayed twice: five times the same for each client."""
    direct = live(crowd, "direct")
    all_same(direct, live(crowd, "direct again"))
    if direct_only:
        return f"steady, {len(direct[0].transcript.splitlines())} lines"
    all_same(direct, live(crowd, "recorded", lambda url: record(crowd, crowd.first.installed.binary, url)))
    judged(crowd.first)
    replayed(crowd, direct)
    shown = f"the same direct, recorded and replayed, {recorded_messages(crowd.first)} messages"
    # The older transport is not added to, and a server that speaks first is not asked before a client asks.
    if crowd.first.server.get("transport") == "sse" or "wait_for" in crowd.first.steps[0]:
        return shown
    only_greeted(crowd.first.cassette)
    all_same(direct, live(crowd, "added", lambda url: add(crowd, url)))
    judged(crowd.first)
    replayed(crowd, direct)
    return f"{shown}, and added to a greeting"


def compare_old_http(crowd: Crowd, flags: list[str]) -> str:
    """A recording made by 0.4.0, which has no rows of exchanges, replays for the client that made it."""
    old = crowd.first.installed.commands["python1"] / "mcp-cassette"
    direct = live(crowd, "direct")
    all_same(direct, live(crowd, "recorded by 0.4.0", lambda url: record(crowd, old, url, flags, code=None)))
    replayed(crowd, direct)
    return f"the same direct, recorded by 0.4.0 and replayed, {recorded_messages(crowd.first)} messages"


def refuse_http(pair: HttpPair) -> str:
    """A pair that cannot work: the client itself says so, without us."""
    make_fresh(pair)
    with server(pair) as url:
        target = {"url": url, "transport": pair.server.get("transport", "http")}
        if run_client(pair, "direct", target).code == 0:
            raise Failure("the client gets on with this server now: take its era into http.toml")
    return "does not work without us either"


def live(
    crowd: Crowd,
    name: str,
    recorder: Callable[[str], contextlib.AbstractContextManager[str]] = contextlib.nullcontext,
) -> list[Session]:
    """A session of each client with the real server, in a workspace made afresh."""
    make_fresh(crowd.first)
    with server(crowd.first) as url, recorder(url) as address:
        sessions = crowd.sessions(name, address)
        for session in sessions:
            if session.code != 0:
                raise Failure(f"{name}: the client failed with {session.code}\n{last_words(crowd, session)}")
    nothing_left(crowd.first, name)
    return sessions


@contextlib.contextmanager
def server(pair: HttpPair) -> Iterator[str]:
    """The server itself, as long as it is needed."""
    command, env, url = pair.server_start()
    env = client_environment(pair.workspace) | env
    with Listening(command, pair.folder / "server.log", url=url, env=env, cwd=pair.folder):
        yield url


@contextlib.contextmanager
def record(
    crowd: Crowd, binary: Path, url: str, flags: list[str] | None = None, *, code: int | None = ENDED_BY_SIGNAL
) -> Iterator[str]:
    """The recorder before a server; it has to save the cassette when it is asked to end."""
    cassette = crowd.first.cassette
    cassette.unlink(missing_ok=True)
    words = [binary, "record", "--url", url, "--cassette", cassette, *(flags or [])]
    with ours(crowd, words, code) as address:
        yield address
    if not cassette.exists():
        raise Failure(f"record has saved nothing\n{log_of(crowd).read_text(errors='replace')[-3000:]}")


def only_greeted(cassette: Path) -> None:
    """Leaves nothing in a recording but how it began, and that there were streams besides answers."""
    whole = json.loads(cassette.read_text(encoding="utf-8"))
    begins = ("initialize", "notifications/initialized", "server/discover")
    kept = {message["exchange"] for message in whole["messages"] if message["method"] in begins}
    whole["messages"] = [message for message in whole["messages"] if message["exchange"] in kept]
    streams = [
        {**row, "events": []} for row in whole["http_exchanges"] if row.get("http_method") == "GET"
    ]
    rows = [row for row in whole["http_exchanges"] if row["exchange"] in kept]
    whole["http_exchanges"] = rows + streams
    cassette.write_text(json.dumps(whole), encoding="utf-8")


@contextlib.contextmanager
def add(crowd: Crowd, url: str) -> Iterator[str]:
    """What is not in the cassette is asked of the server and added."""
    words = [crowd.first.installed.binary, "serve", crowd.first.cassette, "--new-episodes", "--url", url]
    with ours(crowd, words, ENDED_BY_SIGNAL) as address:
        yield address


def replayed(crowd: Crowd, direct: list[Session]) -> None:
    """Two sessions of each client served from the cassette, with no server to fall back on."""
    cassette = crowd.first.cassette
    before = cassette.read_bytes()
    shutil.rmtree(crowd.first.workspace)
    for name in ("replayed", "replayed again"):
        with ours(crowd, [crowd.first.installed.binary, "serve", cassette], 0) as address:
            sessions = crowd.sessions(name, address)
            for session, expected in zip(sessions, direct, strict=True):
                if session.code != 0:
                    text = difference(expected, session) + last_words(crowd, session)
                    raise Failure(f"{name}: the client failed with {session.code}\n{text}")
            all_same(direct, sessions)
        nothing_left(crowd.first, name)
    if cassette.read_bytes() != before:
        raise Failure("serving has changed the cassette")


@contextlib.contextmanager
def ours(crowd: Crowd, words: list[str | Path], code: int | None) -> Iterator[str]:
    """`record` or `serve`, which then has to end with the code when it is asked to."""
    env = client_environment(crowd.first.workspace)
    with Listening(words, log_of(crowd), env=env, cwd=crowd.first.folder) as process:
        yield process.url
        ended = process.end()
        if code not in (None, ended):
            raise Failure(f"{words[1]} ends with {ended}\n{process.said()[-3000:]}")


def log_of(crowd: Crowd) -> Path:
    """What the last of our commands has printed."""
    return crowd.first.folder / "ours.log"


def all_same(expected: list[Session], actual: list[Session]) -> None:
    """Fails with what differs between two runs of the same clients."""
    for one, other in zip(expected, actual, strict=True):
        same(one, other)


def last_words(crowd: Crowd, session: Session) -> str:
    """What the client, the server and our command said last."""
    texts = [session.stderr[-3000:]]
    for path in (log_of(crowd), crowd.first.folder / "server.log"):
        if path.exists():
            texts.append(f"{path.name}:\n{path.read_text(errors='replace')[-2000:]}")
    return "\n".join(texts)
