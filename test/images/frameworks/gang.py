"""What the training programs of the frameworks share: the data, the checkpoints, and the loss of a worker.

The rows of a rank have values in its own columns only. So a model that predicts the rows of all ranks was trained by all
ranks together.
"""

import os
import signal

import ml_operator
import numpy as np

EPOCHS = 6
STEPS_PER_EPOCH = 20
LEARNING_RATE = 0.5
# In the first attempt, the last rank stops here, and the others wait for it in a collective, until the test kills it.
LOST_AFTER = 3

ROWS = 256
COLUMNS_PER_RANK = 2


def rows(rank, size):
    """Features and targets of a rank."""
    first = COLUMNS_PER_RANK * rank
    features = np.zeros((ROWS, COLUMNS_PER_RANK * size), np.float32)
    own = np.random.default_rng(rank).uniform(-1, 1, (ROWS, COLUMNS_PER_RANK))
    features[:, first : first + COLUMNS_PER_RANK] = own
    return features, features @ np.arange(1, COLUMNS_PER_RANK * size + 1, dtype=np.float32)


def rows_of_all(size):
    features, targets = zip(*(rows(rank, size) for rank in range(size)))
    return np.concatenate(features), np.concatenate(targets)


def loss_of(predictions, targets):
    return float(np.mean((np.asarray(predictions) - targets) ** 2))


def resume():
    """The last epoch that is complete, and the directory of its checkpoint."""
    found = ml_operator.latest()
    if found is None:
        return 0, None
    epoch = int(found.name.removeprefix("step-"))
    print(f"resumed after epoch {epoch}", flush=True)
    return epoch, found


def saved_weights(directory, size):
    return np.load(directory / "weights.npy") if directory else np.zeros(COLUMNS_PER_RANK * size, np.float32)


def end_epoch(epoch, rank, size, loss, save):
    """`save` writes the model into a directory."""
    if rank == 0:
        with ml_operator.save(epoch) as directory:
            save(directory)
        ml_operator.report(epoch=epoch, total_epochs=EPOCHS, loss=loss)
    print(f"rank {rank} of {size}: epoch {epoch}, loss {loss:.4f}", flush=True)
    if os.environ["TRAININGJOB_ATTEMPT"] == "1" and epoch == LOST_AFTER and rank == size - 1:
        while True:
            signal.pause()
