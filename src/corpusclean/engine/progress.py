"""Progress on standard error: a live line on a terminal, a quiet line now and then elsewhere."""

import sys
import time
from typing import TextIO

from corpusclean.engine.steps import Account

__all__ = ["Progress"]

_LIVE_SECONDS = 0.2
_QUIET_SECONDS = 15.0


class Progress:
    """What a stage has done so far, told as it goes."""

    def __init__(self, stream: TextIO | None = None, quiet: bool = False) -> None:
        self._stream = stream or sys.stderr
        self._quiet = quiet
        self._live = not quiet and self._stream.isatty()
        self._line = False
        self.begin("")

    def begin(self, stage: str) -> None:
        """Start telling of a stage."""
        self._stage = stage
        self._weight = self._done = self._tasks = self._tasks_done = 0
        self._documents = self._bytes = self._read = self._kept = 0
        self._start = time.monotonic()
        self._told = self._start

    def expect(self, weights: list[int]) -> None:
        """Note tasks that must be worked, by their weights."""
        self._tasks += len(weights)
        self._weight += sum(weights)

    def advanced(self, documents: int, size: int) -> None:
        """Note documents and bytes of text that a running task has done."""
        self._documents += documents
        self._bytes += size

    def finished(self, weight: int, account: Account) -> None:
        """Note a finished task."""
        self._done += weight
        self._tasks_done += 1
        for counts in account.counts.get("sources", {}).values():
            if "kept" in counts:
                self._kept += counts["kept"]
                self._read += counts["kept"] + sum(counts.get("dropped", {}).values())

    def tick(self) -> None:
        """Tell where the stage stands, if it is time to."""
        now = time.monotonic()
        if self._quiet or now - self._told < (_LIVE_SECONDS if self._live else _QUIET_SECONDS):
            return
        self._told = now
        if self._live:
            self._stream.write("\r\x1b[K" + self._status())
            self._line = True
        else:
            self._stream.write(self._status() + "\n")
        self._stream.flush()

    def say(self, message: str) -> None:
        """Print a message on a line of its own."""
        if self._line:
            self._stream.write("\r\x1b[K")
            self._line = False
        self._stream.write(message + "\n")
        self._stream.flush()

    def end(self, account: Account) -> None:
        """Tell what a stage did."""
        if self._quiet:
            return
        seconds = time.monotonic() - self._start
        if account.parts == account.parts_reused:
            self.say(f"{self._stage}: nothing to do, all {account.parts} parts stand")
            return
        reused = f", {account.parts_reused} reused" if account.parts_reused else ""
        self.say(f"{self._stage}: done in {seconds:.1f} s, {account.parts} parts{reused}")

    def _status(self) -> str:
        seconds = max(time.monotonic() - self._start, 1e-9)
        fields = [f"{self._stage}: {self._tasks_done} of {self._tasks} parts"]
        if self._documents:
            fields.append(f"{self._documents:,} documents, {self._bytes / seconds / 1e6:.1f} MB/s")
        if self._read:
            fields.append(f"{self._kept / self._read:.1%} kept")
        if self._weight and self._done:
            share = min(1.0, self._done / self._weight)
            fields.append(f"{share:.0%}, {_clock(seconds * (1 - share) / share)} left")
        return "  ".join(fields)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
