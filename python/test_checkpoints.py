"""Checkpoints: complete or absent, whatever happens while they are written."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path
from typing import Any, Callable
from unittest import mock

import ml_operator


class CheckpointTest(unittest.TestCase):
    def setUp(self) -> None:
        # A file system in memory, if there is one: these tests write to the disk often.
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.root = Path(tempfile.mkdtemp(prefix="checkpoints-", dir=memory))
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        self.reports: list[dict[str, Any]] = []
        environment = mock.patch.dict(os.environ, {"CHECKPOINT_DIR": str(self.root)}, clear=True)
        submit = mock.patch.object(ml_operator, "_submit", lambda body, every_rank=False: self.reports.append(body))
        for patch in (environment, submit):
            patch.start()
            self.addCleanup(patch.stop)

    def save(self, step: int, content: str = "weights") -> None:
        with ml_operator.save(step) as directory:
            (directory / "model.pt").write_text(content)
            (directory / "nested").mkdir()
            (directory / "nested" / "optimizer.pt").write_text(content * 2)

    def names(self) -> list[str]:
        return sorted(os.listdir(self.root))


class Saving(CheckpointTest):
    def test_a_checkpoint_has_its_files_and_a_marker(self) -> None:
        self.assertIsNone(ml_operator.latest())
        self.save(1200)
        self.assertEqual(self.names(), ["step-00001200"])
        path = self.root / "step-00001200"
        marker = json.loads((path / ".complete").read_text())
        self.assertEqual(marker["step"], 1200)
        self.assertEqual(marker["files"], {"model.pt": 7, "nested/optimizer.pt": 14})
        self.assertRegex(marker["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(ml_operator.latest(), path)
        self.assertEqual(self.reports, [{"checkpoint": {"path": str(path), "step": 1200}}])

    def test_others_may_read_it_as_the_umask_says(self) -> None:
        before = os.umask(0o022)
        self.addCleanup(os.umask, before)
        self.save(1)
        self.assertEqual((self.root / "step-00000001").stat().st_mode & 0o777, 0o755)

    def test_the_highest_step_is_the_latest(self) -> None:
        for step in (5, 100_000_000, 99_999_999, 0):
            self.save(step)
        self.assertEqual(ml_operator.latest(), self.root / "step-100000000")

    def test_an_exception_leaves_nothing_behind(self) -> None:
        self.save(1)
        for error in (RuntimeError, KeyboardInterrupt, SystemExit):
            with self.assertRaises(error), ml_operator.save(2) as directory:
                (directory / "model.pt").write_text("half")
                raise error
        self.assertEqual(self.names(), ["step-00000001"])
        self.assertEqual(len(self.reports), 1)

    def test_a_checkpoint_of_the_same_step_is_replaced(self) -> None:
        self.save(1, "old")
        self.save(1, "new")
        self.assertEqual(self.names(), ["step-00000001"])
        self.assertEqual((self.root / "step-00000001" / "model.pt").read_text(), "new")

    def test_names_with_special_characters(self) -> None:
        root = self.root / "a b\n=é$(x)"
        names = ["with space", "new\nline", "é", "-rf", "'\"", os.fsdecode(b"\xff\xfe.pt"), ".complete.pt"]
        with ml_operator.save(3, root) as directory:
            for name in names:
                (directory / name).write_text(name if name.isascii() else "x")
        found = ml_operator.latest(root)
        self.assertEqual(found, root / "step-00000003")
        self.assertEqual(set(os.listdir(found or "")), {*names, ".complete"})

    def test_a_step_must_be_a_number_of_0_or_more(self) -> None:
        for step in (-1, "x"):
            with self.assertRaises(ValueError), ml_operator.save(step):  # type: ignore[arg-type]
                self.fail("not reached")
        self.assertEqual(self.names(), [])

    def test_old_leftovers_of_this_rank_are_removed(self) -> None:
        names = [".tmp-rank0-step-00000001-old", ".tmp-rank0-step-00000001-young", ".tmp-rank1-step-00000001-old"]
        for name in names:
            (self.root / name).mkdir()
            (self.root / name / "model.pt").write_text("half")
            if name.endswith("old"):
                os.utime(self.root / name / "model.pt", (1, 1))
                os.utime(self.root / name, (1, 1))
        self.assertIsNone(ml_operator.latest())
        self.save(1)
        self.assertEqual(self.names(), [*names[1:], "step-00000001"])


class Finding(CheckpointTest):
    def test_incomplete_checkpoints_are_never_chosen(self) -> None:
        self.save(1)
        damages: list[Callable[[Path], Any]] = [
            lambda path: (path / ".complete").unlink(),
            lambda path: (path / ".complete").write_text(""),
            lambda path: (path / ".complete").write_text('{"step": 9'),
            lambda path: (path / ".complete").write_text("[]"),
            lambda path: (path / ".complete").write_text('{"step": true, "files": {}}'),
            lambda path: (path / ".complete").write_text('{"step": 9, "files": 3}'),
            lambda path: (path / ".complete").write_bytes(b"\xff\xff"),
            lambda path: (path / "model.pt").unlink(),
            lambda path: (path / "model.pt").write_text("trunc"),
            lambda path: shutil.rmtree(path / "nested"),
        ]
        for step, damage in enumerate(damages, 2):
            self.save(step)
            self.assertEqual(ml_operator.latest(), self.root / f"step-{step:08d}")
            damage(self.root / f"step-{step:08d}")
            self.assertEqual(ml_operator.latest(), self.root / "step-00000001", step)

    def test_names_that_begin_with_a_dot_are_ignored(self) -> None:
        self.save(1)
        self.save(2)
        (self.root / "step-00000002").rename(self.root / ".tmp-rank0-step-00000002-x")
        self.assertEqual(ml_operator.latest(), self.root / "step-00000001")

    def test_a_directory_of_another_library_is_found_by_its_marker(self) -> None:
        self.save(1)
        other = self.root / "checkpoint-500"
        other.mkdir()
        (other / "model.safetensors").write_text("weights")
        self.assertFalse(ml_operator.is_complete(other))
        ml_operator.complete(other, 500)
        ml_operator.complete(other, 500)
        self.assertEqual(ml_operator.latest(), other)
        self.assertEqual(sorted(os.listdir(other)), [".complete", "model.safetensors"])

    def test_resume_may_name_a_directory_of_checkpoints_or_one_of_them(self) -> None:
        self.save(1)
        self.save(2)
        other = self.root / "other"
        for value, expected in [
            (str(self.root), "step-00000002"),
            (str(self.root / "step-00000001"), "step-00000001"),
            (str(other), None),
        ]:
            with mock.patch.dict(os.environ, {"RESUME_FROM_CHECKPOINT": value}):
                self.assertEqual(ml_operator.latest(), expected and self.root / expected)

    def test_a_bucket_is_not_a_directory(self) -> None:
        with mock.patch.dict(os.environ, {"CHECKPOINT_DIR": "s3://bucket/x"}):
            for call in (ml_operator.checkpoint_dir, ml_operator.latest, ml_operator.save(1).__enter__):
                with self.assertRaisesRegex(ValueError, "CHECKPOINT_DIR is s3://bucket/x"):
                    call()

    def test_the_default_directory(self) -> None:
        with mock.patch.dict(os.environ, clear=True):
            self.assertEqual(ml_operator.checkpoint_dir(), Path("checkpoints"))


class Pruning(CheckpointTest):
    def setUp(self) -> None:
        super().setUp()
        os.environ["CHECKPOINT_KEEP_LAST"] = "2"

    def test_save_keeps_the_newest(self) -> None:
        for step in (1, 2, 3, 4):
            self.save(step)
        self.assertEqual(self.names(), ["step-00000003", "step-00000004"])

    def test_without_a_limit_nothing_is_deleted(self) -> None:
        for value in ("0", "", "-1", "x"):
            os.environ["CHECKPOINT_KEEP_LAST"] = value
            for step in (1, 2, 3):
                self.save(step)
            self.assertEqual(len(self.names()), 3, value)

    def test_only_complete_checkpoints_are_deleted(self) -> None:
        kept = [".hidden", "a b", "mine", "step-00000000", "step-00000001.replaced-x"]
        for name in kept:
            (self.root / name).mkdir()
            (self.root / name / "model.pt").write_text("x")
        for name in (".hidden", "a b", "step-00000001.replaced-x"):
            ml_operator.complete(self.root / name, 0)
        os.symlink(self.root / "mine", self.root / "link")
        for step in (1, 2, 3, 4):
            self.save(step)
        self.assertEqual(self.names(), sorted([*kept, "link", "step-00000003", "step-00000004"]))

    def test_the_saved_and_the_newest_one_remain(self) -> None:
        for step in (10, 11, 12, 5):
            self.save(step)
        self.assertEqual(self.names(), ["step-00000005", "step-00000011", "step-00000012"])
        self.assertEqual(ml_operator.latest(), self.root / "step-00000012")

    def test_an_incomplete_one_does_not_replace_a_complete_one(self) -> None:
        os.environ["CHECKPOINT_KEEP_LAST"] = "1"
        self.save(1)
        self.save(9)
        (self.root / "step-00000009" / "model.pt").unlink()
        self.save(2)
        self.assertEqual(self.names(), ["step-00000002", "step-00000009"])

    def test_other_ranks_and_other_directories_delete_nothing(self) -> None:
        other = self.root / "other"
        for step in (1, 2, 3):
            with ml_operator.save(step, other):
                pass
        self.assertEqual(len(os.listdir(other)), 3)
        os.environ["RANK"] = "1"
        for step in (1, 2, 3):
            self.save(step)
        self.assertEqual(len(self.names()), 4)

    def test_an_error_does_not_end_the_training(self) -> None:
        self.save(1)
        self.save(2)
        rename = os.rename

        def failing(source: Any, target: Any) -> None:
            if "pruned" in str(target):
                raise OSError("I/O error")
            rename(source, target)

        with mock.patch("os.rename", failing), self.assertLogs("ml_operator"):
            self.save(3)
        self.assertEqual(ml_operator.latest(), self.root / "step-00000003")

    def test_a_checkpoint_to_resume_from_that_was_deleted_since(self) -> None:
        for step in (1, 2, 3):
            self.save(step)
        with mock.patch.dict(os.environ, {"RESUME_FROM_CHECKPOINT": str(self.root / "step-00000001")}):
            self.assertEqual(ml_operator.latest(), self.root / "step-00000003")


KILLED_BEFORE = ("fsync", "mkdir", "rename", "replace", "open", "rmdir", "unlink")


def run_killed(work: Callable[[], None], calls: int) -> bool:
    """Runs the work in a process that is killed before its system call number `calls`. Whether it was killed."""
    child = os.fork()
    if child == 0:
        remaining = [calls]

        def killing(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **keywords: Any) -> Any:
                remaining[0] -= 1
                if remaining[0] < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                return function(*args, **keywords)

            return call

        for name in KILLED_BEFORE:
            setattr(os, name, killing(getattr(os, name)))
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@unittest.skipUnless(hasattr(os, "fork"), "needs fork")
class Killed(CheckpointTest):
    def kill_everywhere(self, step: int, check: Callable[[], None]) -> int:
        calls = 0
        while run_killed(lambda: self.save(step, "new"), calls):
            check()
            shutil.rmtree(self.root)
            self.root.mkdir()
            self.save(1, "old")
            calls += 1
        check()
        return calls

    def content(self) -> tuple[str, str]:
        path = ml_operator.latest()
        assert path is not None
        return (path / "model.pt").read_text(), (path / "nested" / "optimizer.pt").read_text()

    def test_a_kill_at_any_time_keeps_the_previous_checkpoint_or_has_the_new_one(self) -> None:
        self.save(1, "old")
        seen = set()
        self.assertGreater(self.kill_everywhere(2, lambda: seen.add(self.content())), 10)
        self.assertEqual(seen, {("old", "oldold"), ("new", "newnew")})

    def test_a_kill_while_the_only_checkpoint_is_replaced_loses_nothing(self) -> None:
        self.save(1, "old")
        seen = set()
        self.assertGreater(self.kill_everywhere(1, lambda: seen.add(self.content())), 10)
        self.assertEqual(seen, {("old", "oldold"), ("new", "newnew")})

    def test_a_kill_while_old_ones_are_deleted_keeps_the_newest(self) -> None:
        os.environ["CHECKPOINT_KEEP_LAST"] = "1"
        self.save(1, "old")
        seen = set()
        self.assertGreater(self.kill_everywhere(2, lambda: seen.add(self.content())), 10)
        self.assertEqual(seen, {("old", "oldold"), ("new", "newnew")})

    def test_the_next_save_succeeds_after_each_kill(self) -> None:
        self.save(1, "old")

        def save_again() -> None:
            self.save(1, "newest")
            self.assertEqual(self.content()[0], "newest")

        self.kill_everywhere(1, save_again)

    def test_processes_that_save_the_same_step_do_not_mix(self) -> None:
        children = []
        for rank in (0, 1):
            child = os.fork()
            if child == 0:
                os.environ["RANK"] = str(rank)
                status = 1
                try:
                    for _ in range(20):
                        self.save(7, f"rank {rank}")
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        self.assertEqual([os.waitpid(child, 0)[1] for child in children], [0, 0])
        self.assertEqual(self.names(), ["step-00000007"])
        first, second = self.content()
        self.assertEqual(first * 2, second)


@unittest.skipUnless(hasattr(os, "geteuid") and os.geteuid() == 0, "needs root to mount a small file system")
class DiskFull(CheckpointTest):
    def test_the_error_surfaces_and_the_previous_checkpoint_is_intact(self) -> None:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", self.root], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("cannot mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", self.root], check=True)
        self.save(1)
        with self.assertRaises(OSError) as raised, ml_operator.save(2) as directory:
            (directory / "model.pt").write_bytes(bytes(2 << 20))
        self.assertEqual(raised.exception.errno, ml_operator.errno.ENOSPC)
        self.assertEqual(self.names(), ["step-00000001"])
        self.assertEqual(ml_operator.latest(), self.root / "step-00000001")
        self.save(3)


if __name__ == "__main__":
    unittest.main()
