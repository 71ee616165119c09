"""Progress reports and complete checkpoints for training jobs of ml-operator.

    import ml_operator

    found = ml_operator.latest()                    # newest complete checkpoint, or None
    for epoch in range(first, epochs):
        ...
        ml_operator.report(epoch=epoch + 1, total_epochs=epochs, loss=loss, lr=lr)
        with ml_operator.save(step) as directory:   # complete or absent, never half-written
            torch.save(state, directory / "model.pt")

One file, standard library only, Python 3.9 or later. It may be copied into an image. docs/python-helper.md describes
the wire format and the layout of checkpoints, for programs that do without this module.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import http.client
import json
import logging
import math
import os
import random
import re
import shutil
import ssl
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable, Union
from urllib.parse import urlsplit

__version__ = "0.1.0"
__all__ = ["checkpoint_dir", "complete", "flush", "is_complete", "latest", "report", "save"]

MARKER = ".complete"

_URL = "ML_OPERATOR_REPORT_URL"
_TOKEN_FILE = "ML_OPERATOR_REPORT_TOKEN_FILE"
_CA_FILE = "ML_OPERATOR_REPORT_CA_FILE"

_INTERVAL_SECONDS = 2.0
_MAX_BACKOFF_SECONDS = 60.0
_REQUEST_TIMEOUT_SECONDS = 5.0
_EXIT_SECONDS = 3.0
_EXIT_RETRY_SECONDS = 0.25
_MAX_WAITING = 8
_MAX_METRICS = 32
_MAX_NAME = 63
_OLD_SECONDS = 3600.0
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_STEP_NAME = re.compile(r"(step|checkpoint)-[0-9]+[A-Za-z0-9._-]*")

_Body = dict[str, Any]
_PathLike = Union[str, "os.PathLike[str]"]
_log = logging.getLogger("ml_operator")


# Progress


def report(
    epoch: Any = None,
    total_epochs: Any = None,
    step: Any = None,
    total_steps: Any = None,
    loss: Any = None,
    accuracy: Any = None,
    throughput: Any = None,
    *,
    every_rank: bool = False,
    **metrics: Any,
) -> None:
    """Reports progress. Never raises, and never waits for the network.

    `epoch` and `step` count what is done, so the last epoch of ten is 10. `throughput` is in samples per second. All
    other keywords are metrics. Values are numbers, or anything that `float` accepts; NaN, infinities and other values
    are left out. Only rank 0 reports, unless `every_rank` is set.
    """
    fields = {
        "epoch": epoch,
        "totalEpochs": total_epochs,
        "step": step,
        "totalSteps": total_steps,
        "loss": loss,
        "accuracy": accuracy,
        "throughput": throughput,
    }
    _report(fields, metrics, every_rank)


def flush(timeout: float = _EXIT_SECONDS) -> None:
    """Sends what waits, for at most `timeout` seconds. Runs at exit by itself; call it before `os._exit`."""
    with contextlib.suppress(Exception):
        _printer.flush()
    with contextlib.suppress(Exception):
        _sender.flush(timeout)


def _report(fields: Mapping[str, Any], metrics: Mapping[str, Any], every_rank: bool = False) -> None:
    try:
        body = {**_counts(fields), **_measures(fields)}
        values = _numbers(metrics)
        if values:
            body["metrics"] = values
        _submit(body, every_rank)
    except Exception as error:  # a report must not end a training
        _warn_once(error)


def _submit(body: _Body, every_rank: bool = False) -> None:
    if not body or not (every_rank or _is_rank_zero()):
        return
    body["time"] = _now()
    target = _sender if os.environ.get(_URL) and os.environ.get(_TOKEN_FILE) else _printer
    target.submit(body)


def _counts(fields: Mapping[str, Any]) -> _Body:
    names = ("epoch", "totalEpochs", "step", "totalSteps")
    numbers = {name: _number(fields.get(name)) for name in names}
    return {name: int(number) for name, number in numbers.items() if number is not None and number >= 0}


def _measures(fields: Mapping[str, Any]) -> _Body:
    return _numbers({name: fields.get(name) for name in ("loss", "accuracy", "throughput")})


def _numbers(values: Mapping[str, Any]) -> dict[str, float]:
    found = {_metric_name(name): _number(value) for name, value in list(values.items())[:_MAX_METRICS]}
    return {name: number for name, number in found.items() if number is not None}


def _metric_name(name: Any) -> str:
    """A name that the operator accepts."""
    return re.sub(r"[^A-Za-z0-9_.:/-]", "_", str(name)).lstrip("_.:/-")[:_MAX_NAME] or "metric"


def _number(value: Any) -> float | None:
    try:
        number = float(value)
    except Exception:  # tensors raise errors of their own
        return None
    return number if math.isfinite(number) else None


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _merged(older: _Body, newer: _Body) -> _Body:
    both = {**older, **newer}
    if "metrics" in older and "metrics" in newer:
        both["metrics"] = {**older["metrics"], **newer["metrics"]}
    return both


def _same_epoch(one: _Body, other: _Body) -> bool:
    """Whether two reports may be sent as one. The last report of an epoch is not replaced by one of the next epoch."""
    return "epoch" not in one or "epoch" not in other or one["epoch"] == other["epoch"]


# Which process reports


def _is_rank_zero() -> bool:
    task = _tensorflow_task()
    if task is not None:
        return task
    # A launcher such as Lightning starts several processes in a pod without a RANK for each of them.
    return _rank() == 0 and _integer("LOCAL_RANK") in (None, 0)


def _rank() -> int:
    """The launcher's rank comes first: `RANK` may be that of the pod."""
    names = ("OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "RANK", "JAX_PROCESS_ID", "PET_NODE_RANK", "NODE_RANK")
    ranks = (_integer(name) for name in names)
    return next((rank for rank in ranks if rank is not None), 0)


def _integer(name: str) -> int | None:
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return None


def _tensorflow_task() -> bool | None:
    """Whether `TF_CONFIG` makes this the process that reports: the chief, or worker 0 of a cluster without one."""
    try:
        config = json.loads(os.environ["TF_CONFIG"])
        cluster, task = config.get("cluster", {}), config["task"]
        first = next((role for role in ("chief", "master") if role in cluster), "worker")
        return bool(task["type"] == first and int(task["index"]) == 0)
    except (KeyError, ValueError, TypeError, AttributeError):
        return None


# Reports by HTTPS


class _Rejected(Exception):
    """The same report would be rejected again."""


class _Sender:
    """Sends reports from a daemon thread: one request per interval, the newest values, and each epoch at least once."""

    def __init__(self, send: Callable[[_Body], None], interval: float = _INTERVAL_SECONDS) -> None:
        self._send = send
        self._interval = interval
        self._changed = threading.Condition()
        self._waiting: list[_Body] = []
        self._thread: threading.Thread | None = None
        self._closing = False
        self._not_before = 0.0
        self._failures = 0

    def submit(self, body: _Body) -> None:
        with self._changed:
            if self._waiting and _same_epoch(self._waiting[-1], body):
                self._waiting[-1] = _merged(self._waiting[-1], body)
            else:
                self._waiting.append(body)
            self._shorten()
            self._start()
            self._changed.notify_all()

    def flush(self, timeout: float) -> None:
        with self._changed:
            thread = self._thread
            self._closing = True
            self._not_before = 0.0
            self._changed.notify_all()
        if thread is not None:
            thread.join(timeout)
        with self._changed:
            self._closing = False

    def _start(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._run, name="ml-operator-report", daemon=True)
            thread.start()
            self._thread = thread

    def _shorten(self) -> None:
        while len(self._waiting) > _MAX_WAITING:
            older = self._waiting.pop(0)
            self._waiting[0] = _merged(older, self._waiting[0])

    def _run(self) -> None:
        body = self._next()
        while body is not None:
            self._deliver(body)
            body = self._next()

    def _next(self) -> _Body | None:
        """The next report when it may be sent; None at the end of a flush."""
        with self._changed:
            while True:
                delay = self._not_before - time.monotonic()
                if self._waiting and delay <= 0:
                    return self._waiting.pop(0)
                if self._closing and not self._waiting:
                    self._thread = None
                    return None
                self._changed.wait(delay if self._waiting else None)

    def _deliver(self, body: _Body) -> None:
        try:
            self._send(body)
        except _Rejected as error:
            _warn_once(error)
            self._pause(self._interval)
        except Exception as error:
            _warn_once(error)
            self._keep(body)
        else:
            self._failures = 0
            self._pause(self._interval)

    def _pause(self, seconds: float, at_exit: float = 0.0) -> None:
        with self._changed:
            self._not_before = time.monotonic() + (at_exit if self._closing else seconds)

    def _keep(self, body: _Body) -> None:
        """Sends the report again later, together with the next one if that is of the same epoch or if time is short."""
        self._failures += 1
        with self._changed:
            if self._waiting and (self._closing or _same_epoch(body, self._waiting[0])):
                self._waiting[0] = _merged(body, self._waiting[0])
            else:
                self._waiting.insert(0, body)
            self._shorten()
        backoff = min(_MAX_BACKOFF_SECONDS, self._interval * 2 ** min(self._failures, 10))
        self._pause(backoff * random.uniform(0.5, 1), _EXIT_RETRY_SECONDS)


def _post(body: _Body) -> None:
    url = urlsplit(os.environ[_URL])
    if url.scheme != "https" or not url.hostname:
        raise ValueError(f"{_URL} must start with https:// and name a host")
    path = (url.path or "/") + (f"?{url.query}" if url.query else "")
    headers = {"Authorization": f"Bearer {_token()}", "Content-Type": "application/json"}
    context = ssl.create_default_context(cafile=os.environ.get(_CA_FILE) or None)
    connection = http.client.HTTPSConnection(url.hostname, url.port, timeout=_REQUEST_TIMEOUT_SECONDS, context=context)
    try:
        connection.request("POST", path, json.dumps(body, allow_nan=False), headers)
        status = connection.getresponse().status
    finally:
        connection.close()
    if status in (400, 413, 415, 422):
        raise _Rejected(f"{url.hostname} rejected a report with status {status}")
    if not 200 <= status < 300:
        raise OSError(f"{url.hostname} answered with status {status}")


def _token() -> str:
    """Read for each request, because the kubelet rotates it. Errors must not show it."""
    token = Path(os.environ[_TOKEN_FILE]).read_bytes().strip()
    if not re.fullmatch(rb"[\x21-\x7e]+", token):
        raise ValueError(f"the file of {_TOKEN_FILE} has no token")
    return token.decode("ascii")


_warned = False


def _warn_once(error: BaseException) -> None:
    global _warned
    if not _warned:
        _warned = True
        _log.warning("ml_operator: cannot report progress, the training continues: %s: %s", type(error).__name__, error)


# Reports by the log


class _Printer:
    """Prints reports as lines, in the caller's thread: one line per interval, and each epoch at least once."""

    def __init__(self, interval: float = _INTERVAL_SECONDS) -> None:
        self._interval = interval
        self._lock = threading.RLock()  # a signal handler may report as well
        self._waiting: _Body = {}
        self._epoch: int | None = None
        self._not_before = 0.0

    def submit(self, body: _Body) -> None:
        with self._lock:
            if not _same_epoch(self._waiting, body):
                self._print()
            self._waiting = _merged(self._waiting, body)
            epoch = body.get("epoch", self._epoch)
            if epoch != self._epoch or time.monotonic() >= self._not_before:
                self._print()
            self._epoch = epoch

    def flush(self) -> None:
        with self._lock:
            self._print()

    def _print(self) -> None:
        body, self._waiting = self._waiting, {}
        if body:
            self._not_before = time.monotonic() + self._interval
            print(_line(body), flush=True)


def _line(body: _Body) -> str:
    """`epoch=3/10 step=1200/4000 loss=0.21 lr=0.001 checkpoint=/checkpoints/step-00001200 checkpoint_step=1200`"""
    parts = [
        f"{name}={body[name]}" + (f"/{body[total]}" if total in body else "")
        for name, total in (("epoch", "totalEpochs"), ("step", "totalSteps"))
        if name in body
    ]
    measures = {name: body[name] for name in ("loss", "accuracy", "throughput") if name in body}
    for name, value in {**measures, **body.get("metrics", {}), **measures}.items():
        parts.append(f"{re.sub(r'[^A-Za-z0-9_./:@-]', '_', name)}={value:.6g}")
    checkpoint = body.get("checkpoint")
    if checkpoint:
        path = checkpoint["path"]
        plain = re.fullmatch(r"[\x21\x23-\x7e]+", path)
        parts += [f"checkpoint={path if plain else json.dumps(path)}", f"checkpoint_step={checkpoint['step']}"]
    return " ".join(parts)


# Checkpoints


def checkpoint_dir() -> Path:
    """The directory of checkpoints: `CHECKPOINT_DIR`, which the operator sets, or `./checkpoints`."""
    return _directory("CHECKPOINT_DIR") or Path("checkpoints")


@contextlib.contextmanager
def save(step: int, directory: _PathLike | None = None) -> Iterator[Path]:
    """Yields an empty temporary directory. When the block ends, its files become the checkpoint of `step`, all or none.

    An exception in the block removes the temporary directory. A complete checkpoint of the same step is replaced. One
    process writes a checkpoint, usually rank 0. In `checkpoint_dir()`, rank 0 then deletes all but the newest
    `CHECKPOINT_KEEP_LAST` complete checkpoints.
    """
    step = _checked_step(step)
    parent = Path(directory) if directory is not None else checkpoint_dir()
    parent.mkdir(parents=True, exist_ok=True)
    prefix = f".tmp-rank{_rank()}-"
    _remove_old(parent, prefix)
    target = parent / f"step-{step:08d}"
    temporary = parent / f"{prefix}{target.name}-{uuid.uuid4().hex}"
    temporary.mkdir()
    try:
        yield temporary
        complete(temporary, step)
        replaced = _rename(temporary, target)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    _sync_directory(parent)
    for path in replaced:
        shutil.rmtree(path, ignore_errors=True)
    _report_checkpoint(target, step)
    _prune(parent, target)


def complete(directory: _PathLike, step: int) -> None:
    """Marks a directory with all its files as a complete checkpoint, for `latest`. The files are on the disk before."""
    root = Path(directory)
    files: dict[str, int] = {}
    for parent, _, names in os.walk(root, topdown=False):
        for name in names:
            path = Path(parent, name)
            if path.is_file() and not path.is_symlink() and not (path.parent == root and _is_marker(name)):
                files[path.relative_to(root).as_posix()] = _sync_file(path)
        _sync_directory(Path(parent))
    marker = {"step": _checked_step(step), "time": _now(), "files": dict(sorted(files.items()))}
    unfinished = root / f"{MARKER}-{uuid.uuid4().hex}"
    unfinished.write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")
    _sync_file(unfinished)
    os.replace(unfinished, root / MARKER)
    _sync_directory(root)


def is_complete(directory: _PathLike) -> bool:
    """Whether the directory has a valid marker, and each file that the marker lists, in its size."""
    return _complete_step(Path(directory)) is not None


def latest(directory: _PathLike | None = None) -> Path | None:
    """The complete checkpoint with the highest step, or None.

    Looks in `directory`, else in `RESUME_FROM_CHECKPOINT`, which may also be a checkpoint itself, else in
    `checkpoint_dir()`.
    """
    root = Path(directory) if directory is not None else _directory("RESUME_FROM_CHECKPOINT") or checkpoint_dir()
    if is_complete(root):
        return root
    if _STEP_NAME.fullmatch(root.name) and not root.exists():  # deleted since, because there are newer ones
        root = root.parent
    return next(iter(_newest_first(root)), None)


def _newest_first(root: Path) -> list[Path]:
    """The complete checkpoints of a directory."""
    found: list[tuple[int, bool, str, Path]] = []
    for path in _children(root):
        step = None if path.name.startswith(".") else _complete_step(path)
        if step is not None:
            found.append((step, ".replaced-" not in path.name, path.name, path))
    return [path for *_, path in sorted(found, reverse=True)]


def _prune(parent: Path, saved: Path) -> None:
    """Deletes all but the newest checkpoints, never the newest or the saved one. Does not raise."""
    keep = _integer("CHECKPOINT_KEEP_LAST") or 0
    try:
        if keep <= 0 or not _is_rank_zero() or parent.absolute() != checkpoint_dir().absolute():
            return
        counted = [path for path in _newest_first(parent) if _NAME.fullmatch(path.name) and not path.is_symlink()]
        for path in [path for path in counted if ".replaced-" not in path.name][keep:]:
            if path != saved:
                # Under this name, the next save removes it if this process is killed.
                pruned = parent / f".tmp-rank{_rank()}-pruned-{uuid.uuid4().hex}"
                os.rename(path, pruned)
                shutil.rmtree(pruned, ignore_errors=True)
    except (OSError, ValueError) as error:
        _log.warning("ml_operator: cannot delete old checkpoints in %s: %s", parent, error)


def _is_marker(name: str) -> bool:
    return name == MARKER or name.startswith(f"{MARKER}-")


def _directory(variable: str) -> Path | None:
    value = os.environ.get(variable)
    if value and "://" in value:
        raise ValueError(f"{variable} is {value}, but this needs a directory: use a volume, or a client of the storage")
    return Path(value) if value else None


def _checked_step(step: Any) -> int:
    number = int(step)
    if number < 0:
        raise ValueError(f"step is {number}, but must be 0 or more")
    return number


def _complete_step(directory: Path) -> int | None:
    try:
        marker = json.loads((directory / MARKER).read_text(encoding="utf-8"))
        sizes = {name: os.stat(directory / name).st_size for name in marker["files"]}
        step = marker["step"]
        return step if type(step) is int and step >= 0 and sizes == marker["files"] else None
    except (OSError, ValueError, KeyError, TypeError):  # absent, damaged, or removed at this moment
        return None


def _children(directory: Path) -> list[Path]:
    try:
        return [path for path in directory.iterdir() if path.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []


def _rename(temporary: Path, target: Path) -> list[Path]:
    """Moves the checkpoint to its name. `latest` finds one that was moved away for it until the new one is there."""
    replaced: list[Path] = []
    while True:
        try:
            os.rename(temporary, target)
            return replaced
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY):
                raise
        aside = target.with_name(f"{target.name}.replaced-{uuid.uuid4().hex}")
        with contextlib.suppress(FileNotFoundError):  # another process has moved it away
            os.rename(target, aside)
            replaced.append(aside)


def _remove_old(parent: Path, prefix: str) -> None:
    """Removes what killed processes of this rank have left. A young one may be in use."""
    for path in _children(parent):
        with contextlib.suppress(OSError):
            is_superseded = ".replaced-" in path.name and (parent / path.name.split(".")[0] / MARKER).is_file()
            if (path.name.startswith(prefix) or is_superseded) and time.time() - _last_change(path) > _OLD_SECONDS:
                shutil.rmtree(path, ignore_errors=True)


def _last_change(directory: Path) -> float:
    return max(os.lstat(path).st_mtime for path in (directory, *directory.rglob("*")))


def _sync_file(path: Path) -> int:
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        return os.fstat(file.fileno()).st_size


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems have no such call
            raise
    finally:
        os.close(descriptor)


def _report_checkpoint(path: Path, step: int, every_rank: bool = False) -> None:
    try:
        _submit({"checkpoint": {"path": str(path.absolute()), "step": step}}, every_rank)
    except Exception as error:
        _warn_once(error)


# Callbacks. Their base classes are imported at the first use.


def _huggingface_callback() -> type:
    from transformers import TrainerCallback

    class HuggingFaceCallback(TrainerCallback):
        """For `transformers.Trainer(callbacks=[HuggingFaceCallback()])`: reports logs, and marks saved checkpoints."""

        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            if state.is_world_process_zero:
                _report(*_huggingface_values(state, dict(logs or {})), every_rank=True)

        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            # The Trainer writes into an existing checkpoint of the same step, which is not complete then.
            if control.should_save and state.is_world_process_zero:
                with contextlib.suppress(OSError):
                    os.unlink(_huggingface_checkpoint(args, state) / MARKER)

        on_epoch_end = on_step_end

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            _wait_for_all_ranks()
            path = _huggingface_checkpoint(args, state)
            if state.is_world_process_zero and path.is_dir():
                _complete_and_report(path, state.global_step)
                if _may_prune(args, state):
                    _prune(Path(args.output_dir), path)

    return HuggingFaceCallback


def _huggingface_checkpoint(args: Any, state: Any) -> Path:
    return Path(args.output_dir, f"checkpoint-{state.global_step}")


def _may_prune(args: Any, state: Any) -> bool:
    """The Trainer may have its own limit, or need the best checkpoint at its end."""
    own = ("save_total_limit", "load_best_model_at_end")
    return not any(getattr(args, name, None) for name in own) and not getattr(state, "best_model_checkpoint", None)


def _huggingface_values(state: Any, logs: dict[str, Any]) -> tuple[_Body, _Body]:
    logs.pop("epoch", None)
    fields = {
        "epoch": state.epoch,
        "totalEpochs": getattr(state, "num_train_epochs", None),
        "step": state.global_step,
        "totalSteps": state.max_steps or None,
        "loss": _pop_first(logs, "loss", "train_loss"),
        "accuracy": _pop_first(logs, "eval_accuracy"),
        "throughput": _pop_first(logs, "train_samples_per_second"),
    }
    return fields, logs


def _complete_and_report(path: Path, step: int) -> None:
    """A checkpoint that cannot be marked is not a reason to end the training: the previous one remains the latest."""
    try:
        complete(path, step)
    except OSError as error:
        _log.warning("ml_operator: cannot mark the checkpoint %s as complete: %s", path, error)
    else:
        _report_checkpoint(path, step, every_rank=True)


def _wait_for_all_ranks() -> None:
    """Each rank writes files of its own into the checkpoint."""
    distributed = getattr(sys.modules.get("torch"), "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        distributed.barrier()


def _lightning_callback() -> type:
    if "pytorch_lightning" in sys.modules and "lightning.pytorch" not in sys.modules:
        from pytorch_lightning import Callback
    else:
        from lightning.pytorch import Callback

    class LightningCallback(Callback):
        """For `lightning.Trainer(callbacks=[LightningCallback()])`: reports logged metrics."""

        _pace = 0.0

        def on_train_batch_end(self, trainer: Any, *_: Any, **__: Any) -> None:
            # A metric on a GPU becomes a number only when the GPU has computed it, so not after every batch.
            if trainer.is_global_zero and time.monotonic() >= self._pace:
                self._pace = time.monotonic() + _INTERVAL_SECONDS
                _report(*_lightning_values(trainer, trainer.current_epoch), every_rank=True)

        def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
            if trainer.is_global_zero:
                _report(*_lightning_values(trainer, trainer.current_epoch + 1), every_rank=True)

    return LightningCallback


def _lightning_values(trainer: Any, epoch: int) -> tuple[_Body, _Body]:
    metrics = dict(trainer.callback_metrics)
    fields = {
        "epoch": epoch,
        "totalEpochs": trainer.max_epochs,
        "step": trainer.global_step,
        "totalSteps": trainer.max_steps,
        "loss": _pop_first(metrics, "loss", "train_loss"),
        "accuracy": _pop_first(metrics, "accuracy", "val_accuracy", "val_acc"),
    }
    return fields, metrics


def _keras_callback() -> type:
    from keras.callbacks import Callback

    class KerasCallback(Callback):
        """For `model.fit(callbacks=[KerasCallback()])`: reports the logs of each epoch."""

        def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
            metrics = dict(logs or {})
            fields = {
                "epoch": epoch + 1,
                "totalEpochs": (self.params or {}).get("epochs"),
                "loss": _pop_first(metrics, "loss"),
                "accuracy": _pop_first(metrics, "val_accuracy", "accuracy"),
            }
            _report(fields, metrics)

    return KerasCallback


def _pop_first(values: dict[str, Any], *names: str) -> Any:
    found = next((name for name in names if name in values), None)
    return None if found is None else values.pop(found)


_callbacks = {
    "HuggingFaceCallback": _huggingface_callback,
    "LightningCallback": _lightning_callback,
    "KerasCallback": _keras_callback,
}


def __getattr__(name: str) -> Any:
    if name not in _callbacks:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = _callbacks[name]()
    # pickle finds the class by its name in the module.
    made.__module__, made.__qualname__ = __name__, name
    globals()[name] = made
    return made


_sender = _Sender(_post)
_printer = _Printer()


def _reset() -> None:
    """A forked process has the queue of its parent, but not its thread."""
    global _sender, _printer
    _sender, _printer = _Sender(_post), _Printer()


atexit.register(flush)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset)
