"""What is measured from outside: start-up, resident memory, size on disk."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.texts import ROOT, lines_of_bytes
from benchmarks.timing import Spread, interleaved, ratios

SENTENCE = "我今天很高形。\n"

_PEAK = (
    "import re, sys, time\nstart = time.monotonic()\n{program}\n"
    "peak = int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) * 1024 / 1e6\n"
    "print(peak, time.monotonic() - start, time.process_time(), file=sys.stderr)"
)
_OPENED = "from corrector import Corrector\nCorrector(threads={threads}).correct('我今天很高形。')"
_CORRECTED = "from corrector.cli import main\nmain(['--no-config', '-q', '--threads', '{threads}', '-o', {out!r}, {path!r}])"


def start_up(rounds: int) -> dict[str, Spread]:
    """Seconds of whole processes: nothing but Python, the help, one sentence through standard input."""
    contenders: dict[str, Callable[[], object]] = {
        "python alone": lambda: _run("-c", "pass"),
        "--help": lambda: _run("-m", "corrector", "--help"),
        "one sentence": lambda: _run("-m", "corrector", "--no-config", "--threads", "1", text=SENTENCE),
    }
    return {name: Spread.of(taken) for name, taken in interleaved(contenders, rounds).items()}


def jobs(size: int, cores: int, rounds: int) -> dict[str, Any]:
    """Seconds of the whole command over a file of so many bytes: one thread, a thread a core, a process a core."""
    ways = {"one thread": ("--threads", "1"), f"{cores} threads": ("--threads", str(cores)), f"{cores} processes": ("--jobs", str(cores))}
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "a.txt", str(Path(folder) / "out.txt")
        path.write_text(lines_of_bytes(size), encoding="utf-8")
        actions: dict[str, Callable[[], object]] = {
            name: partial(_run, "-m", "corrector", "--no-config", "-q", *options, "-o", out, str(path))
            for name, options in ways.items()
        }
        taken = interleaved(actions, rounds)
    base = taken["one thread"]
    found = {
        name: {"seconds": Spread.of(values).as_json(), "speed-up": ratios(base, values).as_json()} for name, values in taken.items()
    }
    return {"megabytes": size / 1e6, "ways": found}


def memory(sizes: list[int], threads: int) -> dict[str, dict[str, float]]:
    """Peak resident megabytes and the time of a process: at rest with the model open, and the command over a file of each size.

    Processor time adds up all threads, and hardly depends on what else the machine is at. Linux only.
    """
    if not Path("/proc/self/status").exists():
        return {}
    found = {"python alone": _peak("pass"), "at rest, model open": _peak(_OPENED.format(threads=threads))}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            path = Path(folder) / "a.txt"
            path.write_text(lines_of_bytes(size), encoding="utf-8")
            program = _CORRECTED.format(threads=threads, out=str(Path(folder) / "out.txt"), path=str(path))
            found[f"a file of {size / 1e6:g} MB"] = _peak(program)
    return found


def sizes() -> dict[str, Any]:
    """Megabytes of the wheel, of what it unpacks to, and of that with everything it requires, installed."""
    found: dict[str, Any] = {}
    required, missing = _required()
    try:
        with tempfile.TemporaryDirectory() as folder:
            wheel = _built(Path(folder))
            with zipfile.ZipFile(wheel) as archive:
                unpacked = sum(member.file_size for member in archive.infolist())
            found["wheel"] = wheel.stat().st_size / 1e6
            found["unpacked"] = unpacked / 1e6
            found["core environment"] = (unpacked + sum(required.values())) / 1e6
    except (OSError, subprocess.CalledProcessError) as error:
        found["skipped"] = f"no wheel could be built: {error}"
    found["requirements"] = {name: size / 1e6 for name, size in sorted(required.items(), key=lambda item: -item[1])}
    if missing:
        found["not installed here"] = sorted(missing)
    return found


def _run(*arguments: str, text: str = "") -> None:
    subprocess.run([sys.executable, *arguments], cwd=ROOT, input=text.encode(), stdout=subprocess.DEVNULL, check=True)


def _peak(program: str) -> dict[str, float]:
    """VmHWM of the process itself: what resource.getrusage tells of a child includes what its parent had."""
    done = subprocess.run(
        [sys.executable, "-c", _PEAK.format(program=program)], cwd=ROOT, capture_output=True, text=True, check=True
    )
    peak, seconds, processor = map(float, done.stderr.split()[-3:])
    return {"megabytes": round(peak, 1), "seconds": round(seconds, 3), "processor seconds": round(processor, 3)}


def _built(folder: Path) -> Path:
    """The wheel, built from a copy so that the checkout stays as it is. Nothing is downloaded."""
    source = folder / "source"
    source.mkdir()
    for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in"):
        shutil.copy(ROOT / name, source)
    for name in ("corrector", "docs", "data"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def _required() -> tuple[dict[str, int], set[str]]:
    """Bytes on disk of every distribution that the core needs, without extras, and those that are not here."""
    import configparser

    from packaging.requirements import Requirement

    parser = configparser.ConfigParser(delimiters=("=",))
    parser.read(ROOT / "setup.cfg", encoding="utf-8")
    waiting = [line for line in parser["options"]["install_requires"].splitlines() if line and not line.startswith("#")]
    found: dict[str, int] = {}
    missing: set[str] = set()
    while waiting:
        requirement = Requirement(waiting.pop())
        key = re.sub("[-_.]+", "-", requirement.name).lower()
        if key in found or (requirement.marker and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            distribution = importlib.metadata.distribution(key)
        except importlib.metadata.PackageNotFoundError:
            missing.add(key)
            continue
        paths = [Path(str(distribution.locate_file(file))) for file in distribution.files or ()]
        found[key] = sum(path.stat().st_size for path in paths if path.is_file())
        waiting += distribution.requires or ()
    return found, missing
