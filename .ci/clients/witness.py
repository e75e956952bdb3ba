"""Runs a command for a client that starts it, and takes down how it ended.

    witness.py FOLDER COMMAND...

A client hides the exit code and often the stderr of the server that it starts. The command gets
this process's own stdin, stdout and environment; its stderr goes to a file; signals are passed on. Linux only.
"""

import json
import os
import signal
import subprocess
import sys
import time

# The environment as it was given to us: Python puts LC_CTYPE into its own.
with open("/proc/self/environ", "rb") as file:
    environment = dict(pair.split(b"=", 1) for pair in file.read().split(b"\0") if b"=" in pair)
folder, command = sys.argv[1], sys.argv[2:]
name = os.path.join(folder, f"{time.time_ns()}-{os.getpid()}")
with open(f"{name}.stderr", "wb") as stderr:
    child = subprocess.Popen(command, stderr=stderr, env=environment)
signals = []


def pass_on(number: int, _: object) -> None:
    signals.append(signal.Signals(number).name)
    child.send_signal(number)


for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    signal.signal(number, pass_on)
code = child.wait()
with open(f"{name}.partial", "w", encoding="utf-8") as file:
    json.dump({"code": code, "signals": signals}, file)
os.rename(f"{name}.partial", f"{name}.json")
sys.exit(code if code >= 0 else 128 - code)
