/** /dev/shm of a chosen size. Containers have 64 MB without it, too little for processes that exchange batches. */

const NAME = 'dshm'

/** It counts against the memory limit of the container. */
export const sharedMemoryVolume = (sizeLimit: string) => ({ name: NAME, emptyDir: { medium: 'Memory', sizeLimit } })

export const sharedMemoryMount = { name: NAME, mountPath: '/dev/shm' }
