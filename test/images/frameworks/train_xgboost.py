"""Boosting with XGBoost: rank 0 runs the tracker, and the ranks sum their histograms by its collective."""

import os
import socket
import time

import gang
import xgboost
from xgboost.collective import CommunicatorContext
from xgboost.tracker import RabitTracker


def wait_for(host, port):
    while True:
        try:
            return socket.create_connection((host, port), timeout=5).close()
        except OSError:
            time.sleep(1)


# As in docs/training.md. XGBoost does not read the variables by itself, and waits for the tracker a few seconds only.
rank, size = int(os.environ["RANK"]), int(os.environ["DMLC_NUM_WORKER"])
host, port = os.environ["DMLC_TRACKER_URI"], int(os.environ["DMLC_TRACKER_PORT"])
if rank == 0:
    tracker = RabitTracker(n_workers=size, host_ip="0.0.0.0", port=port, sortby="task")
    tracker.start()
else:
    wait_for(host, port)

with CommunicatorContext(dmlc_tracker_uri=host, dmlc_tracker_port=port, dmlc_task_id=os.environ["DMLC_TASK_ID"]):
    own = xgboost.DMatrix(*gang.rows(rank, size))
    all_features, all_targets = gang.rows_of_all(size)
    everything = xgboost.DMatrix(all_features)
    done, directory = gang.resume()
    booster = xgboost.Booster(model_file=directory / "model.ubj") if directory else None
    for epoch in range(done + 1, gang.EPOCHS + 1):
        booster = xgboost.train({"max_depth": 4, "nthread": 1}, own, gang.STEPS_PER_EPOCH, xgb_model=booster)
        loss = gang.loss_of(booster.predict(everything), all_targets)
        gang.end_epoch(epoch, rank, size, loss, lambda path: booster.save_model(path / "model.ubj"))
