"""What kit/test and kit/run-suites do in the same way: read a table of kit, and run a command as a step."""

import subprocess
import time
from pathlib import Path

KIT = Path(__file__).resolve().parent


def table(name, columns):
    """The lines of a file in kit; of each so many columns, or all, and only the first may have blanks."""
    for line in (KIT / name).read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            yield line.rsplit(maxsplit=columns - 1) if columns else line.split()


def step(command, log):
    """Runs a command; returns its status, its output, which is kept in the log, and the seconds it took."""
    log.parent.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    with open(log, "wb") as file:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT
        ).returncode
    return status, log.read_text(errors="replace"), time.monotonic() - begin
