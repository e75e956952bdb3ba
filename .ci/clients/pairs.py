"""One client and one server: the sessions of the pair, and what has to hold between them."""

from __future__ import annotations

import difflib
import json
import shutil
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bounded import Failure, run_bounded
from workspace import client_environment, filled, make_workspace

HERE = Path(__file__).resolve().parent
SESSION_SECONDS = 150
COMMAND_SECONDS = 60
# How long a process may outlive the session that started it.
LEAVING_SECONDS = 10
SHOWN_LINES = 60
SHOWN_COLUMNS = 300
# What a default redaction may not find in the repository's one commit.
AUTHOR = "script@localhost"


@dataclass(frozen=True)
class Installed:
    """Where everything is: our executable, the commands of each environment, the work folder."""

    binary: Path
    commands: dict[str, Path]
    npm: Path
    folder: Path


class Pair:
    """A client, a server, and a folder for their sessions."""

    def __init__(
        self,
        client: dict[str, Any],
        server: dict[str, Any],
        installed: Installed,
        *,
        suffix: str = "",
        skip: list[str] = [],  # noqa: B006 - never changed
    ) -> None:
        self.title = " ".join(part for part in (client["name"], server["name"], suffix) if part)
        self.client, self.server, self.installed = client, server, installed
        self.folder = installed.folder / "pairs" / self.title.replace(" ", ".")
        self.workspace = self.folder / "workspace"
        self.cassette = self.folder / "session.mcp.json"
        self.steps = [
            step
            for step in server["steps"]
            if step.get("call") not in skip and client["name"].startswith(step.get("only", ""))
        ]
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)

    def server_command(self) -> list[str]:
        """The server as its environment has it installed."""
        program, *arguments = filled(self.server["command"], self.workspace)
        if arguments[:1] and arguments[0].endswith(".py"):
            arguments[0] = str(HERE / arguments[0])
        return [str(self.installed.commands[self.server["environment"]] / program), *arguments]

    def client_command(self, plan: Path) -> list[str]:
        """The client's script, on the interpreter or beside the modules that it needs."""
        script = self.client["script"]
        if self.client["environment"] == "npm":
            return ["node", str(self.installed.npm / script), str(plan)]
        python = self.installed.commands[self.client["environment"]] / "python"
        return [str(python), "-B", str(HERE / script), str(plan)]


@dataclass(frozen=True)
class Session:
    """How one run of the client went."""

    name: str
    code: int
    transcript: str
    stderr: str


def compare(pair: Pair, *, direct_only: bool) -> str:
    """Direct twice, recorded, replayed twice: five times the same."""
    started = day()
    direct = live(pair, "direct", pair.server_command())
    same(direct, live(pair, "direct again", pair.server_command()))
    if direct_only:
        return f"steady, {len(direct.transcript.splitlines())} lines"
    recorded = live(pair, "recorded", record(pair, pair.installed.binary))
    if day() != started:  # One of the servers answers with the date of today.
        return compare(pair, direct_only=False)
    same(direct, recorded)
    judged(pair)
    replayed(pair, direct)
    return f"the same direct, recorded and replayed, {recorded_messages(pair)} messages"


def compare_old(pair: Pair, flags: list[str]) -> str:
    """A recording made by 0.4.0 replays for the client that made it."""
    direct = live(pair, "direct", pair.server_command())
    same(direct, live(pair, "recorded by 0.4.0", record(pair, pair.installed.commands["python1"] / "mcp-cassette", flags)))
    replayed(pair, direct)
    return f"the same direct, recorded by 0.4.0 and replayed, {recorded_messages(pair)} messages"


def refuse(pair: Pair) -> str:
    """A pair that cannot work: the client itself says so, without us."""
    make_fresh(pair)
    session = run_client(pair, "direct", {"command": pair.server_command()})
    if session.code == 0:
        raise Failure("the client gets on with this server now: take its era into matrix.toml")
    return "does not work without us either"


def day() -> str:
    """The date in the time zone that the scenario of the time server asks for."""
    return datetime.now(UTC).date().isoformat()


def record(pair: Pair, binary: Path, flags: list[str] | None = None) -> list[str]:
    """The server behind the recorder."""
    pair.cassette.unlink(missing_ok=True)
    words = [str(binary), "record", "--cassette", str(pair.cassette), *(flags or [])]
    return witnessed(pair, "record", [*words, "--", *pair.server_command()])


def witnessed(pair: Pair, name: str, command: list[str]) -> list[str]:
    """The command under an observer, since the client hides how it ends."""
    folder = pair.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return [sys.executable, "-I", "-S", str(HERE / "witness.py"), str(folder), *command]


def live(pair: Pair, name: str, command: list[str]) -> Session:
    """A session with the real server, in a workspace made afresh."""
    make_fresh(pair)
    session = run_client(pair, name, {"command": command})
    if session.code != 0:
        raise Failure(f"{name}: the client failed with {session.code}\n{last_words(pair, name, session)}")
    if name != "direct" and name != "direct again":
        ended_well(pair, "record", session)
        nothing_left(pair, name)
    return session


def replayed(pair: Pair, direct: Session) -> None:
    """Two sessions served from the cassette, with no server and no workspace to fall back on."""
    before = pair.cassette.read_bytes()
    shutil.rmtree(pair.workspace)
    for name in ("replayed", "replayed again"):
        command = witnessed(pair, "serve", [str(pair.installed.binary), "serve", str(pair.cassette)])
        session = run_client(pair, name, {"command": command})
        if session.code != 0:
            text = difference(direct, session) + last_words(pair, "serve", session)
            raise Failure(f"{name}: the client failed with {session.code}\n{text}")
        same(direct, session)
        ended_well(pair, "serve", session)
        nothing_left(pair, name)
    if pair.cassette.read_bytes() != before:
        raise Failure("serving has changed the cassette")


def judged(pair: Pair) -> None:
    """The gate accepts what was recorded."""
    for words in (["lint", "--no-config"], ["redaction-check"]):
        done = run_bounded([pair.installed.binary, *words, pair.cassette], COMMAND_SECONDS, check=False)
        if done.returncode != 0:
            text = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise Failure(f"{words[0]} exits {done.returncode}\n{text}")


def make_fresh(pair: Pair) -> None:
    shutil.rmtree(pair.workspace, ignore_errors=True)
    make_workspace(pair.workspace, author=AUTHOR)


def run_client(pair: Pair, name: str, target: dict[str, Any]) -> Session:
    """Starts the client on a plan of the session, with a command or an address, and waits for it to end."""
    plan = pair.folder / "plan.json"
    document = {
        **target,
        "env": filled(pair.server.get("env", {}), pair.workspace),
        "cwd": str(pair.folder),
        "mode": pair.client.get("mode"),
        "roots": [{"uri": pair.workspace.as_uri(), "name": "workspace"}],
        "elicited": pair.server.get("elicited", {}),
        "unheard": pair.server.get("unheard", []),
        "steps": filled(pair.steps, pair.workspace),
    }
    plan.write_text(json.dumps(document), encoding="utf-8")
    env = client_environment(pair.workspace)
    try:
        done = run_bounded(
            pair.client_command(plan), SESSION_SECONDS, cwd=pair.folder, env=env, check=False
        )
    except Failure as failure:
        raise Failure(f"{name}: {failure}\n{witness_texts(pair)}") from None
    stderr = done.stderr.decode("utf-8", "replace")
    session = Session(name, done.returncode, done.stdout.decode("utf-8", "replace"), stderr)
    (pair.folder / f"{name.replace(' ', '-')}.txt").write_text(session.transcript, encoding="utf-8")
    return session


def same(expected: Session, actual: Session) -> None:
    """Fails with what differs between two transcripts."""
    if expected.transcript != actual.transcript:
        raise Failure(f"{actual.name}: not what the client saw before\n{difference(expected, actual)}")


def difference(expected: Session, actual: Session) -> str:
    """A unified diff, cut to what can be read."""
    lines = difflib.unified_diff(
        expected.transcript.splitlines(),
        actual.transcript.splitlines(),
        expected.name,
        actual.name,
        lineterm="",
    )
    shown = [line if len(line) <= SHOWN_COLUMNS else f"{line[:SHOWN_COLUMNS]}…" for line in lines]
    rest = len(shown) - SHOWN_LINES
    if rest > 0:
        shown[SHOWN_LINES:] = [f"({rest} more lines)"]
    return "".join(f"    {line}\n" for line in shown)


def ended_well(pair: Pair, name: str, session: Session) -> None:
    """Every start of the command has ended, and the one that carried the session with 0.

    The TypeScript SDK 2.x starts a command once more before, to ask which era it is of, and
    ends that process by a signal.
    """
    folder = pair.folder / name
    deadline = time.monotonic() + LEAVING_SECONDS
    while len(list(folder.glob("*.json"))) < len(list(folder.glob("*.stderr"))):
        if time.monotonic() > deadline:
            raise Failure(f"{session.name}: {name} was killed or has not ended\n{witness_texts(pair)}")
        time.sleep(0.05)
    ends = [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]
    if not ends or ends[-1]["code"] != 0:
        raise Failure(f"{session.name}: {name} ended with {ends}\n{witness_texts(pair)}")
    probe = pair.client.get("probes", False)
    if len(ends) != 1 + probe or any(end["code"] not in (0, 130) for end in ends[:-1]):
        raise Failure(f"{session.name}: {name} started or ended otherwise than usual: {ends}\n{witness_texts(pair)}")


def nothing_left(pair: Pair, name: str) -> None:
    """No process of the session and no file of the recorder is left."""
    deadline = time.monotonic() + LEAVING_SECONDS
    while left := survivors(pair.workspace / "home"):
        if time.monotonic() > deadline:
            raise Failure(f"{name}: still running: {left}")
        time.sleep(0.05)
    for ending in (".partial", ".claim"):
        if (path := pair.cassette.with_name(pair.cassette.name + ending)).exists():
            raise Failure(f"{name}: {path.name} is left")


def survivors(home: Path) -> list[str]:
    """Commands of the processes that have this session's home folder. Linux only."""
    wanted = f"HOME={home}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if wanted in (process / "environ").read_bytes().split(b"\0"):
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
        except OSError:
            continue  # It ended meanwhile, or belongs to someone else.
    return [command for command in found if command]


def last_words(pair: Pair, name: str, session: Session) -> str:
    """What the client and the command that it started said last."""
    return session.stderr[-3000:] + witness_texts(pair)


def witness_texts(pair: Pair) -> str:
    """The stderr of what ran under the observer."""
    texts = []
    for path in sorted(pair.folder.glob("*/*.stderr")):
        if path.parent.name in ("record", "serve"):
            texts.append(f"stderr of {path.parent.name}:\n{path.read_text(errors='replace')[-3000:]}")
    return "\n".join(texts)


def recorded_messages(pair: Pair) -> int:
    """How many messages the cassette holds."""
    return len(json.loads(pair.cassette.read_text(encoding="utf-8"))["messages"])
