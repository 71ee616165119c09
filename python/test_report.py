"""Reports: what is sent and when, which process sends it, and the lines in the log."""

from __future__ import annotations

import contextlib
import io
import os
import threading
import unittest
from typing import Any
from unittest import mock

import ml_operator


class Recorder:
    """Stands for the server. It holds a request until the test lets it go on, so that no test depends on time."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.errors: list[Exception] = []
        self.entered = threading.Semaphore(0)
        self.released = threading.Semaphore(0)

    def send(self, body: dict[str, Any]) -> None:
        self.entered.release()
        self.released.acquire()
        if self.errors:
            raise self.errors.pop(0)
        body.pop("time", None)
        self.bodies.append(body)

    def release(self, times: int = 100) -> None:
        for _ in range(times):
            self.released.release()


class Sending(unittest.TestCase):
    def setUp(self) -> None:
        self.recorder = Recorder()
        self.sender = ml_operator._Sender(self.recorder.send, interval=0.001)
        quiet = mock.patch.object(ml_operator, "_warned", True)
        quiet.start()
        self.addCleanup(quiet.stop)

    def block(self) -> None:
        """Returns when the first report has been sent but not answered."""
        self.sender.submit({"step": 0})
        self.recorder.entered.acquire()

    def finish(self) -> list[dict[str, Any]]:
        self.recorder.release()
        self.sender.flush(60)
        return self.recorder.bodies

    def test_the_newest_values_win_while_a_request_is_under_way(self) -> None:
        self.block()
        for step in range(1, 1001):
            self.sender.submit({"step": step, "loss": 1 / step})
        self.assertEqual(self.finish(), [{"step": 0}, {"step": 1000, "loss": 0.001}])

    def test_fields_that_the_newer_report_lacks_are_kept(self) -> None:
        self.block()
        self.sender.submit({"checkpoint": {"path": "/c/1", "step": 1}, "metrics": {"a": 1, "b": 1}})
        self.sender.submit({"step": 2, "metrics": {"b": 2}})
        merged = {"step": 2, "checkpoint": {"path": "/c/1", "step": 1}, "metrics": {"a": 1, "b": 2}}
        self.assertEqual(self.finish(), [{"step": 0}, merged])

    def test_no_epoch_is_dropped(self) -> None:
        self.block()
        for epoch in (1, 2, 3):
            for step in range(100):
                self.sender.submit({"epoch": epoch, "step": 100 * epoch + step})
        self.assertEqual([body.get("epoch") for body in self.finish()], [None, 1, 2, 3])
        self.assertEqual(self.recorder.bodies[1], {"epoch": 1, "step": 199})

    def test_the_queue_is_bounded_and_keeps_the_newest(self) -> None:
        self.block()
        for epoch in range(1, 1001):
            self.sender.submit({"epoch": epoch, f"e{epoch}": 1} if epoch == 1 else {"epoch": epoch})
        self.assertEqual(len(self.sender._waiting), 8)
        epochs = [body.get("epoch") for body in self.finish()]
        self.assertEqual(epochs, [None, *range(993, 1001)])
        self.assertEqual(self.recorder.bodies[1]["e1"], 1)

    def test_a_failed_report_is_sent_again_with_the_next_of_its_epoch(self) -> None:
        self.recorder.errors = [OSError("down"), OSError("down")]
        self.block()
        self.sender.submit({"epoch": 1, "loss": 3})
        self.sender.submit({"epoch": 2})
        self.assertEqual(self.finish()[-1]["epoch"], 2)
        self.assertEqual(self.recorder.bodies[0]["step"], 0)

    def test_a_rejected_report_is_not_sent_again(self) -> None:
        self.recorder.errors = [ml_operator._Rejected("400")]
        self.block()
        self.sender.submit({"epoch": 1})
        self.assertEqual(self.finish(), [{"epoch": 1}])

    def test_a_flush_ends_in_time_and_a_later_report_is_sent(self) -> None:
        self.block()
        self.sender.flush(0.01)
        self.sender.submit({"step": 5})
        self.assertEqual(self.finish()[-1], {"step": 5})
        self.sender.submit({"step": 6})
        self.assertEqual(self.finish()[-1], {"step": 6})

    def test_requests_keep_the_interval_and_back_off_after_errors(self) -> None:
        slow = ml_operator._Sender(lambda body: None, interval=1000)
        slow._deliver({"step": 1})
        self.assertGreater(slow._not_before - ml_operator.time.monotonic(), 900)
        failing = ml_operator._Sender(mock.Mock(side_effect=OSError), interval=2)
        delays = []
        for _ in range(8):
            failing._deliver({"step": 1})
            delays.append(failing._not_before - ml_operator.time.monotonic())
        self.assertLess(delays[0], 5)
        self.assertTrue(25 < delays[-1] <= 60, delays)
        self.assertEqual(len(failing._waiting), 1)


class Values(unittest.TestCase):
    def body(self, *args: Any, **values: Any) -> dict[str, Any]:
        with mock.patch.object(ml_operator, "_submit") as submit:
            ml_operator.report(*args, **values)
        return submit.call_args[0][0]

    def test_the_wire_format(self) -> None:
        body = self.body(3, 10, 1200, 4000, loss=0.21, accuracy=0.95, throughput=512.3, lr=0.001)
        expected = {"epoch": 3, "totalEpochs": 10, "step": 1200, "totalSteps": 4000, "loss": 0.21}
        expected.update(accuracy=0.95, throughput=512.3, metrics={"lr": 0.001})
        self.assertEqual(body, expected)

    def test_what_is_not_a_finite_number_is_left_out(self) -> None:
        class Tensor:
            def __init__(self, value: float) -> None:
                self.value = value

            def __float__(self) -> float:
                return self.value

        class Vector:
            def __float__(self) -> float:
                raise RuntimeError("only one element tensors can be converted")

        infinite = {"a": float("inf"), "b": float("-inf"), "c": 10**400, "d": "x", "e": Vector(), "f": [1]}
        self.assertEqual(self.body(epoch=-1, step=float("nan"), loss=float("nan"), **infinite), {})
        self.assertEqual(
            self.body(epoch=2.7, loss=Tensor(0.5), g=Tensor(2.0)), {"epoch": 2, "loss": 0.5, "metrics": {"g": 2}}
        )

    def test_the_number_of_metrics_is_bounded(self) -> None:
        self.assertEqual(len(self.body(**{f"m{i}": i for i in range(1000)})["metrics"]), 32)

    def test_names_of_metrics_are_those_that_the_operator_accepts(self) -> None:
        names = {"train loss": 1.0, "eval/f1": 2.0, "_private": 3.0, "x" * 100: 4.0, "é": 5.0}
        expected = {"train_loss": 1.0, "eval/f1": 2.0, "private": 3.0, "x" * 63: 4.0, "metric": 5.0}
        self.assertEqual(self.body(**names)["metrics"], expected)

    def test_a_report_never_raises(self) -> None:
        with mock.patch.object(ml_operator, "_submit", side_effect=RuntimeError("no thread")):
            with self.assertLogs("ml_operator") as logs, mock.patch.object(ml_operator, "_warned", False):
                ml_operator.report(epoch=1)
                ml_operator.report(epoch=2)
        self.assertEqual(len(logs.output), 1)


class Ranks(unittest.TestCase):
    cases = [
        ({}, True),
        ({"RANK": "0"}, True),
        ({"RANK": "1"}, False),
        ({"RANK": "0", "LOCAL_RANK": "0"}, True),
        ({"RANK": "0", "LOCAL_RANK": "1"}, False),
        ({"RANK": "4", "LOCAL_RANK": "0", "PET_NODE_RANK": "0"}, False),
        ({"PET_NODE_RANK": "1"}, False),
        ({"JAX_PROCESS_ID": "2"}, False),
        ({"OMPI_COMM_WORLD_RANK": "1", "RANK": "0"}, False),
        ({"OMPI_COMM_WORLD_RANK": "0"}, True),
        ({"PMI_RANK": "3"}, False),
        ({"RANK": "none"}, True),
        ({"TF_CONFIG": '{"cluster":{"worker":["a","b"]},"task":{"type":"worker","index":0}}', "RANK": "0"}, True),
        ({"TF_CONFIG": '{"cluster":{"worker":["a","b"]},"task":{"type":"worker","index":1}}', "RANK": "1"}, False),
        (
            {"TF_CONFIG": '{"cluster":{"chief":["c"],"worker":["a"]},"task":{"type":"worker","index":0}}', "RANK": "0"},
            False,
        ),
        ({"TF_CONFIG": '{"cluster":{"chief":["c"],"worker":["a"]},"task":{"type":"chief","index":0}}'}, True),
        ({"TF_CONFIG": '{"cluster":{"worker":["a"]},"task":{"type":"evaluator","index":0}}'}, False),
        ({"TF_CONFIG": "{}", "RANK": "1"}, False),
        ({"TF_CONFIG": "not JSON"}, True),
    ]

    def test_one_process_of_a_job_reports(self) -> None:
        for environment, expected in self.cases:
            with self.subTest(environment), mock.patch.dict(os.environ, environment, clear=True):
                self.assertEqual(ml_operator._is_rank_zero(), expected)

    def test_other_ranks_report_on_request(self) -> None:
        printer = mock.Mock()
        with (
            mock.patch.dict(os.environ, {"RANK": "1"}, clear=True),
            mock.patch.object(ml_operator, "_printer", printer),
        ):
            ml_operator.report(epoch=1)
            self.assertEqual(printer.submit.call_count, 0)
            ml_operator.report(epoch=1, every_rank=True)
            self.assertEqual(printer.submit.call_count, 1)


class Lines(unittest.TestCase):
    def printed(self, *bodies: dict[str, Any], interval: float = 1000) -> list[str]:
        printer, out = ml_operator._Printer(interval), io.StringIO()
        with contextlib.redirect_stdout(out):
            for body in bodies:
                printer.submit(body)
            printer.flush()
        return out.getvalue().splitlines()

    def test_a_line_has_keys_and_values(self) -> None:
        body = {"epoch": 3, "totalEpochs": 10, "step": 1200, "loss": 0.21, "metrics": {"lr": 1e-05, "n": 3.0}}
        self.assertEqual(self.printed(body), ["epoch=3/10 step=1200 loss=0.21 lr=1e-05 n=3"])

    def test_no_value_breaks_a_line(self) -> None:
        checkpoint = {"path": "/a b\n=", "step": 3}
        lines = self.printed({"loss": 1.0, "metrics": {"a b=\n": 2.0, "loss": 9.0}, "checkpoint": checkpoint})
        self.assertEqual(lines, ['loss=1 a_b__=2 checkpoint="/a b\\n=" checkpoint_step=3'])

    def test_there_are_few_lines_and_each_epoch_has_one(self) -> None:
        steps = [{"epoch": epoch, "step": 100 * epoch + step} for epoch in (1, 2) for step in range(100)]
        lines = ["epoch=1 step=100", "epoch=1 step=199", "epoch=2 step=200", "epoch=2 step=299"]
        self.assertEqual(self.printed(*steps), lines)

    def test_a_closed_output_does_not_matter(self) -> None:
        out = io.StringIO()
        out.close()
        with contextlib.redirect_stdout(out), mock.patch.object(ml_operator, "_warned", True):
            with mock.patch.object(ml_operator, "_printer", ml_operator._Printer()):
                ml_operator.report(epoch=1)
                ml_operator.flush()


if __name__ == "__main__":
    unittest.main()
