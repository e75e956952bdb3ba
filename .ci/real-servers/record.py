"""Installs real MCP servers and records a scripted session of each with mcp-cassette 0.4.0.

The folder then serves `check` and, named by MCP_CASSETTE_RECORDINGS, the Rust tests of
recordings. See README.md beside this file.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from bounded import (  # noqa: E402
    INSTALL_SECONDS,
    Failure,
    run_bounded,
    signals_end_the_program,
    virtual_environment,
    work_folder,
)
from client import Session  # noqa: E402
from workspace import client_environment, filled, make_workspace  # noqa: E402

# Written by two of the sessions; the default redactions must remove it, and only they.
ADDRESS = "team@example.com"
MODES = {"default-redaction": [], "plain": ["--no-default-redactions"]}


def main() -> int:
    """Records every server twice; exit 0 when all sessions went as scripted."""
    parser = argparse.ArgumentParser(prog="record", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the cassettes go; made if absent")
    output = parser.parse_args().folder.resolve()
    signals_end_the_program()
    servers = tomllib.loads((HERE / "servers.toml").read_text(encoding="utf-8"))
    try:
        output.mkdir(parents=True, exist_ok=True)
        with work_folder() as folder:
            record_all(servers, install(servers, folder), folder, output)
    except (Failure, OSError) as failure:
        print(f"record: {failure}", file=sys.stderr)
        return 1
    return 0


def install(servers: dict[str, Any], folder: Path) -> dict[str, Path]:
    """Installs the recorder and the servers; returns where each registry's commands are."""
    if shutil.which("npm") is None:
        raise Failure("npm not found; the servers from npm need Node.js 20 or newer")
    npm = ["npm", "install", "--no-audit", "--no-fund", "--no-update-notifier", "--ignore-scripts"]
    run_bounded([*npm, "--prefix", folder / "npm", *servers["npm"]["packages"]], INSTALL_SECONDS)
    python = virtual_environment(folder / "python", *servers["pypi"]["packages"])
    return {"pypi": python, "npm": folder / "npm" / "node_modules" / ".bin"}


def record_all(servers: dict[str, Any], commands: dict[str, Path], folder: Path, output: Path) -> None:
    """One cassette a server and mode."""
    for server in servers["server"]:
        for mode, flags in MODES.items():
            name = f"{server['name']}.{mode}"
            workspace = make_workspace(folder / name)
            cassette = output / f"{name}.mcp.json"
            try:
                sent, received = record_one(server, commands, flags, workspace, cassette)
                compare_with_traffic(cassette, (sent, received))
                compare_with_mode(cassette, mode, ADDRESS in json.dumps(server))
            except Failure as failure:
                log = log_of(workspace).read_text(encoding="utf-8", errors="replace")
                raise Failure(f"{name}: {failure}\n{log}") from None
            print(f"{cassette.name}: {sent} messages sent, {received} received", flush=True)


def record_one(
    server: dict[str, Any], commands: dict[str, Path], flags: list[str], workspace: Path, cassette: Path
) -> tuple[int, int]:
    """Drives one session through the recorder; returns the counts of messages."""
    program, *arguments = filled(server["command"], workspace)
    command = [str(commands["pypi"] / "mcp-cassette"), "record", "--cassette", str(cassette)]
    command += [*flags, "--", str(commands[server["registry"]] / program), *arguments]
    env = client_environment(workspace) | filled(server.get("env", {}), workspace)
    cassette.unlink(missing_ok=True)
    with Session(command, env, workspace, log_of(workspace)) as session:
        offered = session.open()
        expect(session, {"method": "tools/list", "params": {}})
        if "prompts" in offered:
            expect(session, {"method": "prompts/list", "params": {}})
        if "resources" in offered:
            expect(session, {"method": "resources/list", "params": {}})
            expect(session, {"method": "resources/templates/list", "params": {}})
        for step in filled(server["steps"], workspace):
            expect(session, step)
        expect(session, {"method": "ping"})
        code = session.close()
    if code != 0:
        raise Failure(f"the recorder's exit code is {code}")
    return session.sent, session.received


def expect(session: Session, step: dict[str, Any]) -> None:
    """One step of the script; fails when the server answers otherwise than scripted."""
    method, params = step.get("method"), step.get("params")
    if "call" in step:
        method, params = "tools/call", {"name": step["call"], "arguments": step["arguments"]}
        if "progress" in step:
            params["_meta"] = {"progressToken": step["progress"]}
    answer = session.request(method, params)
    failed = "error" in answer or answer["result"].get("isError", False)
    if failed != step.get("error", False):
        raise Failure(f"unexpected answer to {step}: {json.dumps(answer)[:500]}")


def compare_with_traffic(cassette: Path, traffic: tuple[int, int]) -> None:
    """The recording holds as many messages of each side as went through."""
    messages = json.loads(cassette.read_text(encoding="utf-8"))["messages"]
    senders = [message["sender"] for message in messages]
    recorded = (senders.count("client"), senders.count("server"))
    if recorded != traffic:
        raise Failure(f"recorded {recorded}, but {traffic} were sent and received")


def compare_with_mode(cassette: Path, mode: str, written: bool) -> None:
    """Where the session wrote the mail address, the default redactions, and only they, removed it."""
    kept = ADDRESS in cassette.read_text(encoding="utf-8")
    if kept != (written and mode == "plain"):
        raise Failure(f"{ADDRESS} {'is' if kept else 'is not'} in the {mode} recording")


def log_of(workspace: Path) -> Path:
    """Where the recorder's and the server's stderr of this session goes."""
    return workspace / "stderr.log"


if __name__ == "__main__":
    sys.exit(main())
