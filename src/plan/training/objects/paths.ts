/** Mount paths in every pod. */

/** Mount path of `spec.dataVolume`. */
export const DATA_DIRECTORY = '/data'
export const HYPERPARAMETERS_FILE = '/etc/trainingjob/hyperparameters.json'
