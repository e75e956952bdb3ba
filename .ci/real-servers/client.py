"""A small MCP client over newline-delimited JSON-RPC, for scripted sessions.

It sends one request at a time, waits for its answer until a deadline, and meanwhile serves
what the server asks of a client. Everything sent and received is counted, so that the
recording can be compared with the traffic.
"""

from __future__ import annotations

import json
import queue
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bounded import Failure, end_group

ANSWER_SECONDS = 60
END_SECONDS = 60
PROTOCOL_VERSION = "2025-11-25"


class Session:
    """One server process behind pipes; leaving the context ends it and all it started."""

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, log: Path) -> None:
        self.sent = 0
        self.received = 0
        self._cwd = cwd
        self._next_id = 0
        # None marks the end of the server's output.
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        with log.open("wb") as stderr:
            self._process = subprocess.Popen(
                list(command),
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                start_new_session=True,
            )
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        end_group(self._process)

    def open(self) -> dict[str, Any]:
        """The handshake; returns what the server can do."""
        params = {
            "protocolVersion": PROTOCOL_VERSION,
            "capabilities": {"roots": {"listChanged": True}, "sampling": {}, "elicitation": {}},
            "clientInfo": {"name": "scripted-client", "version": "1.0.0"},
        }
        answer = self.request("initialize", params)
        if "result" not in answer:
            raise Failure(f"initialize failed: {answer}")
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]["capabilities"]

    def request(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """Sends a request and returns the answer to it, whatever comes in between."""
        self._next_id += 1
        message = {"jsonrpc": "2.0", "id": self._next_id, "method": method}
        if params is not None:
            message["params"] = params
        self._send(message)
        deadline = time.monotonic() + ANSWER_SECONDS
        while (incoming := self._receive(deadline, method)) is not None:
            if "method" not in incoming and incoming.get("id") == self._next_id:
                return incoming
            self._serve(incoming)
        raise Failure(f"the server ended before it answered {method}")

    def close(self) -> int:
        """Ends the input, reads the output to its end; returns the exit code."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        deadline = time.monotonic() + END_SECONDS
        while self._receive(deadline, "the end of input") is not None:
            pass
        try:
            return self._process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise Failure(f"no exit {END_SECONDS} s after the end of input") from None

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        try:
            self._process.stdin.write(line.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Failure("the server closed its input") from None
        self.sent += 1

    def _receive(self, deadline: float, waiting_for: str) -> dict[str, Any] | None:
        try:
            line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Failure(f"nothing came in time after {waiting_for}") from None
        if line is None:
            return None
        self.received += 1
        try:
            message = json.loads(line)
        except ValueError:
            raise Failure(f"not JSON on stdout: {line[:200]!r}") from None
        if not isinstance(message, dict):
            raise Failure(f"not a JSON-RPC message: {line[:200]!r}")
        return message

    def _serve(self, incoming: dict[str, Any]) -> None:
        """Answers a request of the server; notifications need no answer."""
        if "method" not in incoming or "id" not in incoming:
            return
        method = incoming["method"]
        answers: dict[str, Any] = {
            "ping": {},
            "roots/list": {"roots": [{"uri": self._cwd.as_uri(), "name": "workspace"}]},
            "sampling/createMessage": {
                "role": "assistant",
                "content": {"type": "text", "text": "Blue."},
                "model": "scripted-model",
                "stopReason": "endTurn",
            },
        }
        reply: dict[str, Any] = {"jsonrpc": "2.0", "id": incoming["id"]}
        if method == "elicitation/create":
            reply["result"] = _filled_form(incoming.get("params", {}))
        elif method in answers:
            reply["result"] = answers[method]
        else:
            reply["error"] = {"code": -32601, "message": f"Method not found: {method}"}
        self._send(reply)


def _filled_form(params: dict[str, Any]) -> dict[str, Any]:
    """Accepts a form with its defaults, or the least value of each required member's type."""
    schema = params.get("requestedSchema")
    if not isinstance(schema, dict):
        return {"action": "decline"}
    content = {}
    for name, member in schema.get("properties", {}).items():
        if "default" in member:
            content[name] = member["default"]
        elif name in schema.get("required", []):
            content[name] = _least_value(member)
    return {"action": "accept", "content": content}


def _least_value(schema: dict[str, Any]) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    for choices in ("oneOf", "anyOf"):
        if schema.get(choices):
            return schema[choices][0].get("const")
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    return {"boolean": False, "array": []}.get(kind, "text")
