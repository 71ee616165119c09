"""Callbacks: against the interfaces that the libraries document, and against the libraries if they are installed."""

from __future__ import annotations

import importlib.util
import os
import pickle
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

import ml_operator


def has(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


class CallbackTest(unittest.TestCase):
    def setUp(self) -> None:
        self.reports: list[dict[str, Any]] = []
        submit = mock.patch.object(ml_operator, "_submit", lambda body, every_rank=False: self.reports.append(body))
        submit.start()
        self.addCleanup(submit.stop)
        self.addCleanup(self.forget)

    def forget(self) -> None:
        for name in ml_operator._callbacks:
            vars(ml_operator).pop(name, None)

    def library(self, name: str, **members: Any) -> None:
        """A library that has only the base class."""
        parts = name.split(".")
        modules = {".".join(parts[: end + 1]): types.ModuleType(parts[end]) for end in range(len(parts))}
        vars(modules[name]).update(members)
        patch = mock.patch.dict(sys.modules, modules)
        patch.start()
        self.addCleanup(patch.stop)


class Import(unittest.TestCase):
    def test_the_module_imports_no_library(self) -> None:
        code = "import sys, ml_operator; from ml_operator import *; print(*sys.modules)"
        run = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True)
        self.assertEqual(run.stderr, "")
        self.assertFalse({"torch", "transformers", "lightning", "keras", "numpy"} & set(run.stdout.split()))

    def test_other_names_do_not_exist(self) -> None:
        with self.assertRaisesRegex(AttributeError, "has no attribute 'Other'"):
            ml_operator.Other  # noqa: B018


class HuggingFace(CallbackTest):
    def check(self, callback: Any) -> None:
        with tempfile.TemporaryDirectory() as output:
            path = Path(output, "checkpoint-50")
            path.mkdir()
            (path / "model.safetensors").write_text("weights")
            args = types.SimpleNamespace(output_dir=output)
            state = types.SimpleNamespace(epoch=1.5, num_train_epochs=3, global_step=50, max_steps=100)
            for state.is_world_process_zero in (False, True):
                callback.on_log(args, state, None, logs={"loss": 0.5, "learning_rate": 1e-3, "epoch": 1.5, "step": 9})
                callback.on_save(args, state, None)
            self.assertEqual(ml_operator.latest(output), path)
            values = {"epoch": 1, "totalEpochs": 3, "step": 50, "totalSteps": 100, "loss": 0.5}
            logged = {**values, "metrics": {"learning_rate": 0.001, "step": 9}}
            self.assertEqual(self.reports, [logged, {"checkpoint": {"path": str(path), "step": 50}}])
            callback.on_step_end(args, state, types.SimpleNamespace(should_save=False))
            self.assertEqual(ml_operator.latest(output), path)
            callback.on_epoch_end(args, state, types.SimpleNamespace(should_save=True))
            self.assertIsNone(ml_operator.latest(output))

    def test_the_interface(self) -> None:
        self.library("transformers", TrainerCallback=object)
        self.check(ml_operator.HuggingFaceCallback())

    def test_all_ranks_have_written_before_the_checkpoint_is_marked(self) -> None:
        distributed = mock.Mock()
        self.library("torch", distributed=distributed)
        self.test_the_interface()
        self.assertEqual(distributed.barrier.call_count, 2)

    def test_a_checkpoint_that_cannot_be_marked_does_not_end_the_training(self) -> None:
        self.library("transformers", TrainerCallback=object)
        state = types.SimpleNamespace(global_step=1, is_world_process_zero=True)
        with tempfile.TemporaryDirectory() as output, mock.patch("os.fsync", side_effect=OSError("I/O error")):
            Path(output, "checkpoint-1").mkdir()
            with self.assertLogs("ml_operator"):
                ml_operator.HuggingFaceCallback().on_save(types.SimpleNamespace(output_dir=output), state, None)
        self.assertEqual(self.reports, [])

    def test_old_checkpoints_are_deleted_unless_the_trainer_needs_them(self) -> None:
        self.library("transformers", TrainerCallback=object)
        for options, best, left in [
            ({}, None, 2),
            ({"save_total_limit": 5}, None, 4),
            ({"load_best_model_at_end": True}, None, 4),
            ({}, "checkpoint-1", 4),
        ]:
            with tempfile.TemporaryDirectory() as output:
                variables = {"CHECKPOINT_DIR": output, "CHECKPOINT_KEEP_LAST": "2"}
                args = types.SimpleNamespace(output_dir=output, **options)
                with mock.patch.dict(os.environ, variables):
                    for step in (1, 2, 3, 4):
                        Path(output, f"checkpoint-{step}").mkdir()
                        state = types.SimpleNamespace(
                            global_step=step, is_world_process_zero=True, best_model_checkpoint=best
                        )
                        ml_operator.HuggingFaceCallback().on_save(args, state, None)
                self.assertEqual(len(os.listdir(output)), left, (options, best))
                self.assertEqual(ml_operator.latest(output), Path(output, "checkpoint-4"))

    @unittest.skipUnless(has("transformers"), "transformers is not installed")
    def test_the_library_calls_it(self) -> None:
        from transformers import TrainerCallback, TrainerControl, TrainerState
        from transformers.trainer_callback import CallbackHandler

        callback = ml_operator.HuggingFaceCallback()
        self.assertIsInstance(callback, TrainerCallback)
        self.check(callback)
        handler = CallbackHandler([ml_operator.HuggingFaceCallback], None, None, None, None)
        state = TrainerState(epoch=2.0, global_step=20, max_steps=30, num_train_epochs=3, is_world_process_zero=True)
        control = TrainerControl()
        self.reports.clear()
        self.assertIs(handler.on_log(types.SimpleNamespace(), state, control, {"eval_accuracy": 0.9}), control)
        self.assertEqual(handler.on_train_begin(None, state, control), control)
        expected = {"epoch": 2, "totalEpochs": 3, "step": 20, "totalSteps": 30, "accuracy": 0.9}
        self.assertEqual(self.reports, [expected])


class Lightning(CallbackTest):
    def trainer(self, **values: Any) -> types.SimpleNamespace:
        metrics = {"train_loss": 0.5, "val_acc": 0.8, "lr": 0.1}
        base = {"current_epoch": 1, "max_epochs": 4, "global_step": 20, "max_steps": -1, "is_global_zero": True}
        return types.SimpleNamespace(**{**base, "callback_metrics": metrics, **values})

    def check(self, callback: Any) -> None:
        for batch in range(100):
            callback.on_train_batch_end(self.trainer(), None, None, None, batch)
        callback.on_train_epoch_end(self.trainer(), None)
        callback.on_train_epoch_end(self.trainer(is_global_zero=False), None)
        values = {"totalEpochs": 4, "step": 20, "loss": 0.5, "accuracy": 0.8, "metrics": {"lr": 0.1}}
        self.assertEqual(self.reports, [{"epoch": 1, **values}, {"epoch": 2, **values}])

    def test_the_interface(self) -> None:
        self.library("lightning.pytorch", Callback=object)
        self.check(ml_operator.LightningCallback())

    def test_the_class_is_that_of_the_library_in_use(self) -> None:
        class Base:
            pass

        self.library("pytorch_lightning", Callback=Base)
        self.assertTrue(issubclass(ml_operator.LightningCallback, Base))

    def test_it_can_be_sent_to_other_processes(self) -> None:
        self.library("lightning.pytorch", Callback=object)
        copy = pickle.loads(pickle.dumps(ml_operator.LightningCallback()))
        self.assertIs(type(copy), ml_operator.LightningCallback)

    @unittest.skipUnless(has("lightning") and has("torch"), "lightning is not installed")
    def test_the_library_calls_it(self) -> None:
        import torch
        from lightning.pytorch import LightningModule, Trainer

        class Line(LightningModule):
            def __init__(self) -> None:
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def training_step(self, batch: Any, index: int) -> Any:
                loss = self.layer(batch).square().mean()
                self.log("train_loss", loss)
                return loss

            def configure_optimizers(self) -> Any:
                return torch.optim.SGD(self.parameters(), 0.1)

        quiet = {"logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
        trainer = Trainer(max_epochs=2, accelerator="cpu", callbacks=[ml_operator.LightningCallback()], **quiet)
        trainer.fit(Line(), torch.utils.data.DataLoader(torch.ones(8, 1), batch_size=2))
        last = self.reports[-1]
        self.assertEqual((last["epoch"], last["totalEpochs"], last["step"]), (2, 2, 8))
        self.assertGreaterEqual(last["loss"], 0)


class Keras(CallbackTest):
    def check(self, callback: Any) -> None:
        callback.set_params({"epochs": 5, "steps": 10})
        callback.on_epoch_end(0, {"loss": 0.5, "accuracy": 0.7, "val_accuracy": 0.6, "val_loss": 0.9})
        callback.on_epoch_end(4)
        metrics = {"accuracy": 0.7, "val_loss": 0.9}
        first = {"epoch": 1, "totalEpochs": 5, "loss": 0.5, "accuracy": 0.6, "metrics": metrics}
        self.assertEqual(self.reports, [first, {"epoch": 5, "totalEpochs": 5}])

    def test_the_interface(self) -> None:
        class Callback:
            params: Any = None

            def set_params(self, params: Any) -> None:
                self.params = params

        self.library("keras.callbacks", Callback=Callback)
        self.check(ml_operator.KerasCallback())

    # Importing keras loads its backend, which takes long.
    @unittest.skipUnless(has("keras") and os.environ.get("KERAS_BACKEND"), "KERAS_BACKEND is not set")
    def test_the_library_calls_it(self) -> None:
        from keras.callbacks import CallbackList

        callback = ml_operator.KerasCallback()
        CallbackList([callback], epochs=2, steps=1).on_epoch_end(1, {"loss": 0.5})
        self.assertEqual(self.reports, [{"epoch": 2, "totalEpochs": 2, "loss": 0.5}])


if __name__ == "__main__":
    unittest.main()
