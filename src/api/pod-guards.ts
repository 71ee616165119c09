/**
 * What the operator keeps for itself in its pods. The CRDs reject a pod template that sets any of it, with the fix. The
 * planner leaves it out, because a conversion from v1alpha1 is not checked by the rules of v1.
 */

/** Labels and annotations of a pod that Services, controllers and the operator itself find it by. */
export const RESERVED_KEYS =
  '^(app|component|trainingjob|controller-uid|job-name|pod-template-hash)$|' +
  '^([-a-z0-9.]+[.])?(ml[.]example[.]com|mlops[.]sathvik[.]dev|batch[.]kubernetes[.]io|commit[.]runtime)/'

/** A container of the operator. */
export interface GuardedContainer {
  readonly name: string
  /** Fields that it takes from elsewhere, with the fix. */
  readonly fields: Readonly<Record<string, string>>
  /** Environment variables that the operator sets. */
  readonly variables: readonly string[]
  /** A regular expression of the paths that the operator mounts something at. */
  readonly paths: string
  /** The paths in words. */
  readonly pathNames: string
}

export interface PodGuards {
  /** Fields of a PodSpec that a template must not set, with the fix. */
  readonly fields: Readonly<Record<string, string>>
  readonly container: GuardedContainer
  readonly initContainer?: GuardedContainer
  /** Names of containers in other pods of the operator that get the same template. */
  readonly otherContainers: readonly string[]
  readonly volumes: readonly string[]
}

const named = (fix: string): string => `remove it, because the operator names its pods so that ${fix}`

/** For all kinds. */
const commonFields = {
  ephemeralContainers: 'remove it, and add a container to a running pod with kubectl debug',
  hostname: named('they find each other'),
  hostnameOverride: named('they find each other'),
  subdomain: named('they find each other'),
  nodeName: 'remove it, and choose nodes with scheduling.nodeSelector or scheduling.affinity',
  priority: 'remove it, and set scheduling.priorityClassName',
  priorityClassName: 'set scheduling.priorityClassName instead',
  serviceAccount: 'set spec.serviceAccountName instead',
  serviceAccountName: 'set spec.serviceAccountName instead',
} as const

const containerFields = {
  image: 'set spec.image instead',
  command: 'set spec.command instead',
  args: 'set spec.args instead',
  envFrom: 'set spec.envFrom instead',
  'resources.requests': 'set spec.resources instead',
  'resources.limits': 'set spec.resources instead',
} as const

/** Variables of training processes, by which they find each other, their task and their files. */
export const trainingVariables = [
  'RANK',
  'POD_NAME',
  'POD_IP',
  'WORLD_SIZE',
  'MASTER_ADDR',
  'MASTER_PORT',
  'TRAININGJOB_NAME',
  'TRAININGJOB_ROLE',
  'TRAININGJOB_ATTEMPT',
  'MODEL',
  'DATASET',
  'NUM_WORKERS',
  'GPUS_PER_WORKER',
  'DISTRIBUTED_BACKEND',
  'DATA_DIR',
  'HYPERPARAMETERS_FILE',
  'CHECKPOINT_DIR',
  'CHECKPOINT_URI',
  'CHECKPOINT_KEEP_LAST',
  'RESUME_FROM_CHECKPOINT',
  'CHECKPOINT_STORAGE',
  'CHECKPOINT_FREQUENCY',
  'PET_NPROC_PER_NODE',
  'PET_NODE_RANK',
  'PET_NNODES',
  'PET_MASTER_ADDR',
  'PET_MASTER_PORT',
  'PET_RDZV_BACKEND',
  'PET_RDZV_ENDPOINT',
  'PET_RDZV_ID',
  'PET_MAX_RESTARTS',
  'TF_CONFIG',
  'DMLC_TRACKER_URI',
  'DMLC_TRACKER_PORT',
  'DMLC_TASK_ID',
  'DMLC_NUM_WORKER',
  'WORKER_ADDRS',
  'WORKER_PORT',
  'JAX_COORDINATOR_ADDRESS',
  'JAX_NUM_PROCESSES',
  'JAX_PROCESS_ID',
  'COORDINATOR_ADDRESS',
  'COORDINATOR_PORT',
  'NUM_PROCESSES',
  'PROCESS_ID',
  'K_MPI_JOB_ROLE',
  'OMPI_MCA_orte_default_hostfile',
  'OMPI_MCA_orte_keep_fqdn_hostnames',
  'OMPI_MCA_orte_set_default_slots',
  'OMPI_MCA_plm_rsh_args',
  'PRTE_MCA_prte_default_hostfile',
  'PRTE_MCA_plm_ssh_args',
  'I_MPI_HYDRA_HOST_FILE',
  'I_MPI_PERHOST',
  'I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS',
  'HYDRA_HOST_FILE',
  'HYDRA_LAUNCH_EXTRA_ARGS',
  'ML_OPERATOR_REPORT_URL',
  'ML_OPERATOR_REPORT_TOKEN_FILE',
  'ML_OPERATOR_REPORT_CA_FILE',
  'KUBEFLOW_TRAINER_SERVER_URL',
  'KUBEFLOW_TRAINER_SERVER_CA_CERT',
  'KUBEFLOW_TRAINER_SERVER_TOKEN',
  'NVIDIA_VISIBLE_DEVICES',
] as const

/** Names of the volumes that the operator adds to the pods of jobs. */
export const ownVolumes = ['checkpoints', 'config', 'data', 'dshm', 'ml-operator', 'ssh'] as const

export const trainingGuards: PodGuards = {
  fields: {
    ...commonFields,
    activeDeadlineSeconds: 'set spec.activeDeadlineSeconds instead',
    restartPolicy: 'set spec.restartPolicy instead',
    schedulerName: 'set scheduling.schedulerName instead',
  },
  container: {
    name: 'training-worker',
    fields: containerFields,
    variables: trainingVariables,
    paths: '^/+(data|dev/+shm|etc/+trainingjob(/.*)?|etc/+mpi(-ssh)?(/.*)?|var/+run/+ml-operator(/.*)?)/*$',
    pathNames: '/data, /dev/shm, /etc/trainingjob, /etc/mpi, /etc/mpi-ssh or /var/run/ml-operator',
  },
  otherContainers: ['checkpoint-download', 'checkpoint-upload'],
  volumes: ownVolumes,
}

/** Variables that every model server gets. */
export const serverVariables = [
  'MODEL_NAME',
  'MODEL_PATH',
  'MODEL_VERSION',
  'MODEL_URI',
  'FRAMEWORK',
  'PORT',
  'DEVICE_COUNT',
] as const

/** Names of the volumes that the operator adds to the pods of models. */
export const ownServerVolumes = ['credentials', 'dshm', 'files', 'model', 'tmp', 'trust'] as const

/** Not at, above or inside of what the operator mounts, except inside of /tmp. */
export const ownServerPaths = `^/+(dev(/+shm(/.*)?)?|etc(/+model-server(/.*)?)?|mnt(/+models(/.*)?)?|tmp)/*$`

export const servingGuards: PodGuards = {
  fields: {
    ...commonFields,
    activeDeadlineSeconds: 'remove it, because servers run until their version is removed',
    restartPolicy: 'remove it, because servers are always restarted',
  },
  container: {
    name: 'server',
    fields: { ...containerFields, command: 'use a ModelServer with this command instead' },
    variables: [...serverVariables, 'NVIDIA_VISIBLE_DEVICES'],
    paths: ownServerPaths,
    pathNames: '/dev/shm, /etc/model-server, /mnt/models or /tmp',
  },
  initContainer: {
    name: 'model-fetch',
    fields: {
      image: 'remove it, because the operator fetches models with its own image',
      command: 'remove it, because the operator fetches models with its own program',
      args: 'remove it, because the operator fetches models with its own program',
      envFrom: 'set storage.secretName instead',
    },
    variables: ['GOOGLE_APPLICATION_CREDENTIALS', 'AWS_SHARED_CREDENTIALS_FILE', 'NODE_EXTRA_CA_CERTS'],
    paths: '^/+(cache|etc/+model-fetch|mnt/+models)(/.*)?$',
    pathNames: '/cache, /etc/model-fetch or /mnt/models',
  },
  otherContainers: ['validate'],
  volumes: ownServerVolumes,
}
