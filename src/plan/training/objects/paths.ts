/** Mount paths in every pod. */

/** Mount path of `spec.dataVolume`. */
export const DATA_DIRECTORY = '/data'
export const HYPERPARAMETERS_FILE = '/etc/trainingjob/hyperparameters.json'
/** The token for progress reports, and the certificates to trust. */
export const REPORT_DIRECTORY = '/var/run/ml-operator'
