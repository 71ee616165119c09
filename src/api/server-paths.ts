/** Where the operator mounts what a model server reads. */

/** Configuration files of a server. */
export const FILES_DIRECTORY = '/etc/model-server'

/** The model, unless the ModelServer has another directory. */
export const MODEL_DIRECTORY = '/mnt/models'
