"""Data-parallel steps with JAX: one array, sharded over the devices of all processes."""

import os

import gang
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

# As in docs/training.md. JAX reads only the address from the environment by itself.
jax.distributed.initialize(
    coordinator_address=os.environ["JAX_COORDINATOR_ADDRESS"],
    num_processes=int(os.environ["JAX_NUM_PROCESSES"]),
    process_id=int(os.environ["JAX_PROCESS_ID"]),
    cluster_detection_method="deactivate",
)
rank, size = jax.process_index(), jax.process_count()
mesh = jax.make_mesh((jax.device_count(),), ("rows",))
split = NamedSharding(mesh, PartitionSpec("rows"))
features, targets = (jax.make_array_from_process_local_data(split, part) for part in gang.rows(rank, size))
all_features, all_targets = gang.rows_of_all(size)


@jax.jit
def step(weights, features, targets):
    gradient = jax.grad(lambda weights: jnp.mean((features @ weights - targets) ** 2))(weights)
    return weights - gang.LEARNING_RATE * gradient


done, directory = gang.resume()
weights = jax.device_put(gang.saved_weights(directory, size), NamedSharding(mesh, PartitionSpec()))
for epoch in range(done + 1, gang.EPOCHS + 1):
    for _ in range(gang.STEPS_PER_EPOCH):
        weights = step(weights, features, targets)
    found = np.asarray(weights)
    loss = gang.loss_of(all_features @ found, all_targets)
    gang.end_epoch(epoch, rank, size, loss, lambda path: np.save(path / "weights.npy", found))
