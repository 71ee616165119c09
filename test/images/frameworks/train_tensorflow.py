"""Data-parallel steps with TensorFlow: MultiWorkerMirroredStrategy, which reads TF_CONFIG."""

import gang
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
resolver = strategy.cluster_resolver
cluster = resolver.cluster_spec().as_dict()
size = sum(len(hosts) for hosts in cluster.values())
rank = resolver.task_id + (len(cluster.get("chief", [])) if resolver.task_type == "worker" else 0)
assert strategy.num_replicas_in_sync == size, cluster
features, targets = gang.rows(rank, size)
all_features, all_targets = gang.rows_of_all(size)
done, directory = gang.resume()
with strategy.scope():
    weights = tf.Variable(gang.saved_weights(directory, size))


def replica_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.linalg.matvec(features, weights) - targets) ** 2)
    gradient = tape.gradient(loss, weights)
    mean = tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.MEAN, gradient)
    weights.assign_sub(gang.LEARNING_RATE * mean)


@tf.function
def step():
    strategy.run(replica_step)


for epoch in range(done + 1, gang.EPOCHS + 1):
    for _ in range(gang.STEPS_PER_EPOCH):
        step()
    found = weights.numpy()
    loss = gang.loss_of(all_features @ found, all_targets)
    gang.end_epoch(epoch, rank, size, loss, lambda path: np.save(path / "weights.npy", found))
