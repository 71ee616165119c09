"""Trains a small classifier on three spiral arms, data-parallel over all workers of a TrainingJob.

All workers generate the same data, and each trains on its own share. Rank 0 saves a checkpoint after every epoch and reports
the progress, both with the helper ml_operator. All ranks start from the newest complete checkpoint, so the loss of a worker
costs at most one epoch. Progress is printed as one JSON object per line.
"""

import json
import math
import os
import signal
import sys
import time

import ml_operator
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ARMS = 3
POINTS_PER_ARM = 2000
AVERAGE_DECAY = 0.9


def say(**facts):
    print(json.dumps(facts), flush=True)


def parameter(name, default):
    """A hyperparameter of the job, which the operator sets as HYPERPARAM_<NAME>."""
    return type(default)(float(os.environ.get(f"HYPERPARAM_{name.upper()}", default)))


def spirals():
    generator = torch.Generator().manual_seed(7)
    radius = torch.linspace(0.05, 1, POINTS_PER_ARM).repeat(ARMS)
    labels = torch.arange(ARMS).repeat_interleave(POINTS_PER_ARM)
    noise = 0.25 * torch.randn(len(labels), generator=generator)
    angle = radius * 4 + labels * 2 * math.pi / ARMS + noise
    return torch.stack([radius * angle.sin(), radius * angle.cos()], dim=1), labels


def classifier():
    torch.manual_seed(11)
    return nn.Sequential(nn.Linear(2, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, ARMS))


def restore():
    """The state in the newest complete checkpoint, or None."""
    found = ml_operator.latest()
    return torch.load(found / "state.pt", map_location="cpu") if found else None


def store(epoch, state):
    with ml_operator.save(epoch) as directory:
        torch.save(state, directory / "state.pt")
        time.sleep(parameter("secondspersave", 0.0))


def export(name, weights):
    """Exports TorchScript, so that a server does not need this code."""
    model = classifier()
    model.load_state_dict(weights)
    path = ml_operator.checkpoint_dir() / name / "model.pt"
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.jit.save(torch.jit.script(model.eval()), f"{path}.part")
    os.replace(f"{path}.part", path)


def remember(**facts):
    """Appends to a file that outlives the process, if the job names one."""
    path = os.environ.get("TRAINING_HISTORY")
    if path:
        with open(path, "a", encoding="utf-8") as history:
            history.write(json.dumps({"attempt": int(os.environ.get("TRAININGJOB_ATTEMPT", 0)), **facts}) + "\n")


def train_epoch(model, optimizer, features, labels, batch):
    total, right = 0.0, 0
    for start in range(0, len(labels), batch):
        x, y = features[start : start + batch], labels[start : start + batch]
        optimizer.zero_grad()
        scores = model(x)
        loss = nn.functional.cross_entropy(scores, y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        right += (scores.argmax(dim=1) == y).sum().item()
    return torch.tensor([total, right, len(labels)], dtype=torch.float64, device=labels.device)


def averaged(average, weights):
    if average is None:
        return {name: value.clone() for name, value in weights.items()}
    return {name: AVERAGE_DECAY * average[name] + (1 - AVERAGE_DECAY) * value for name, value in weights.items()}


def device_of_worker():
    """The GPU of this process, or the CPU of a worker without one."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    return torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))


def main():
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    epochs, batch = parameter("epochs", 20), parameter("batchsize", 100)
    pace = parameter("secondsperepoch", 0.0)
    torch.set_num_threads(1)
    device = device_of_worker()
    backend = os.environ.get("DISTRIBUTED_BACKEND", "nccl") if device.type == "cuda" else "gloo"
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group(backend, rank=rank, world_size=size)
    say(event="joined", rank=rank, workers=size, attempt=int(os.environ.get("TRAININGJOB_ATTEMPT", 0)), device=str(device))

    net = classifier().to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=parameter("learningrate", 0.001))
    saved, first, average = restore(), 1, None
    if saved is not None:
        net.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        first, average = saved["epoch"] + 1, {name: value.to(device) for name, value in saved["average"].items()}
        say(event="resumed", rank=rank, epoch=saved["epoch"])
    remember(event="started", rank=rank, first=first)
    model = DistributedDataParallel(net, device_ids=None if device.type == "cpu" else [device])
    features, labels = (data.to(device) for data in spirals())

    for epoch in range(first, epochs + 1):
        began = time.monotonic()
        order = torch.randperm(len(labels), generator=torch.Generator().manual_seed(epoch))[rank::size].to(device)
        sums = train_epoch(model, optimizer, features[order], labels[order], max(1, batch // size))
        dist.all_reduce(sums)
        loss, accuracy = (sums[0] / sums[2]).item(), (sums[1] / sums[2]).item()
        average = averaged(average, net.state_dict())
        if rank == 0:
            state = {"epoch": epoch, "model": net.state_dict(), "optimizer": optimizer.state_dict(), "average": average}
            store(epoch, state)
            ml_operator.report(epoch=epoch, total_epochs=epochs, loss=loss, accuracy=accuracy)
            say(event="epoch", epoch=epoch, epochs=epochs, loss=round(loss, 4), accuracy=round(accuracy, 4))
        remember(event="epoch", rank=rank, epoch=epoch)
        time.sleep(max(0.0, pace - (time.monotonic() - began)))

    if rank == 0:
        export("model", net.state_dict())
        export("averaged", average)
        say(event="exported", models=["model/model.pt", "averaged/model.pt"])
    dist.barrier()


if __name__ == "__main__":
    # PID 1 of a container receives SIGTERM only if it has a handler.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
