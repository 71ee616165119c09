/** A model with its runtime resolved, in one form for the ModelDeployments of both API groups. */
import type { ComputeResources } from '../../../api/compute.ts'
import type { MlopsModelDeployment } from '../../../api/mlops-modeldeployment.v1.ts'
import type { ModelDeployment, ModelDeploymentSpec } from '../../../api/modeldeployment.v1.ts'
import type { ModelServer, ModelServerSpec } from '../../../api/modelserver.v1.ts'
import type { UserPodTemplate } from '../../../api/pod-template.ts'
import type { Scaling } from '../../../api/serving-scaling.ts'
import type { Traffic } from '../../../api/serving-traffic.ts'
import type { ObjectMeta } from '../../../kube/object.ts'
import { isDevice } from '../../pod/gpu-environment.ts'
import type { Model } from './observed.ts'
import type { Probe } from '../runtimes/probe.ts'
import { bareImage, builtInRuntime, type RuntimeConfig, runtimeNameOf } from '../runtimes/runtime.ts'

export type Variable = NonNullable<ModelServerSpec['env']>[number]
export type EnvironmentSource = NonNullable<ModelServerSpec['envFrom']>[number]

export interface VersionScaling extends Omit<Scaling, 'targetCPUUtilization'> {
  /** Absent: CPU is not a scaling metric. */
  readonly targetCPUUtilization?: number
}

/** An autoscaler chooses the number of pods. */
export const isAutoscaled = ({ minReplicas, maxReplicas }: VersionScaling): boolean => minReplicas < maxReplicas

export interface ServedVersion {
  readonly name: string
  /** Percent, as in the spec. */
  readonly weight: number
  /** Where the model is: a URI, or a path inside the image. */
  readonly uri: string
  /** Expected SHA-256 of the fetched model. */
  readonly checksum?: string
  readonly image: string
  readonly resources?: ComputeResources
  readonly scaling: VersionScaling
  /** After those of the runtime. */
  readonly args: readonly string[]
  readonly env: readonly Variable[]
  readonly envFrom: readonly EnvironmentSource[]
  readonly volumes: NonNullable<ModelDeploymentSpec['volumes']>
  readonly volumeMounts: NonNullable<ModelDeploymentSpec['volumeMounts']>
  /** In the order in which they are merged: of the model, then of the version. */
  readonly podTemplates: readonly UserPodTemplate[]
  /** Of an earlier revision, if it differs from the model's. */
  readonly parts?: ModelParts
}

type DeviceFields = Pick<ServedVersion, 'resources' | 'podTemplates'>

/** Without rendering the pods: additions to them may have devices, too. */
export function needsDevices({ resources, podTemplates }: DeviceFields): boolean {
  const names = Object.keys({ ...resources?.requests, ...resources?.limits })
  return podTemplates.length > 0 || names.some(isDevice)
}

/** By the spec alone, for all versions. */
export function mayHaveDevices({ spec }: Model): boolean {
  const versions = 'versions' in spec ? [spec, ...spec.versions] : [{ resources: spec.resources }]
  return versions.some((one) =>
    needsDevices({
      ...(one.resources && { resources: one.resources }),
      podTemplates: 'podTemplate' in one && one.podTemplate ? [one.podTemplate] : [],
    }),
  )
}

export interface Validation {
  readonly script: string
  readonly image?: string
  readonly timeoutSeconds: number
}

export interface ServedModel extends Pick<
  ModelDeploymentSpec,
  'storage' | 'scheduling' | 'serviceAccountName' | 'imagePullSecrets'
> {
  readonly metadata: ObjectMeta
  /** The name under which the server serves it. */
  readonly modelName: string
  readonly framework?: string
  readonly server: ModelServerSpec
  readonly versions: readonly ServedVersion[]
  readonly traffic: Traffic
  readonly validation?: Validation
  /** Health check of the pods. */
  readonly check?: ModelDeploymentSpec['healthCheck']
}

/** What all versions of one revision share. The validation is always that of the spec. */
export type ModelParts = Omit<ServedModel, 'metadata' | 'traffic' | 'versions' | 'validation'>

/** The model as it was in the revision of the version. */
export function modelOf(model: ServedModel, { parts }: ServedVersion): ServedModel {
  if (!parts) return model
  const { metadata, traffic, versions, validation } = model
  return { metadata, traffic, versions, ...(validation && { validation }), ...parts }
}

export function servedModel(model: Model, server: ModelServerSpec): ServedModel {
  return isMlops(model) ? fromMlops(model, server) : fromMl(model, server)
}

const isMlops = (model: Model): model is MlopsModelDeployment => 'modelURI' in model.spec

/** What runs the model. Undefined if neither its namespace nor the built-in runtimes have the ModelServer that it names, or it names nothing. */
export function serverOf(
  model: Model,
  own: ModelServer | undefined,
  runtimes: RuntimeConfig,
): ModelServerSpec | undefined {
  const name = runtimeNameOf(model)
  if (name === undefined) return isMlops(model) || model.spec.image === undefined ? undefined : imageOf(model)
  return own?.spec ?? builtInRuntime(name, runtimes)
}

function imageOf({ spec: { image = '', healthCheck } }: ModelDeployment): ModelServerSpec {
  const { intervalSeconds, timeoutSeconds, failureThreshold } = healthCheck
  const server = bareImage(image, healthCheck.endpoint)
  const often = (probe: Probe | undefined, most: number): Probe => ({
    path: healthCheck.endpoint,
    ...probe,
    periodSeconds: Math.min(intervalSeconds, most),
    timeoutSeconds,
    failureThreshold,
  })
  const { startup, readiness, liveness } = server.probes ?? {}
  return {
    ...server,
    probes: { ...(startup && { startup }), readiness: often(readiness, 10), liveness: often(liveness, Infinity) },
  }
}

function fromMl({ metadata, spec }: ModelDeployment, server: ModelServerSpec): ServedModel {
  const { versions, image, resources, scaling, env = [], healthCheck, modelName, framework, traffic, ...rest } = spec
  const { args = [], envFrom = [], volumes = [], volumeMounts = [], podTemplate } = rest
  const { validation, storage, scheduling, serviceAccountName, imagePullSecrets } = rest
  return {
    metadata,
    modelName,
    framework,
    server,
    traffic,
    check: healthCheck,
    ...(validation && { validation }),
    ...(storage && { storage }),
    ...(scheduling && { scheduling }),
    ...(serviceAccountName !== undefined && { serviceAccountName }),
    ...(imagePullSecrets && { imagePullSecrets }),
    versions: versions.map((version) => {
      const own = version.resources ?? resources
      return {
        name: version.name,
        weight: version.weight,
        uri: version.modelPath,
        ...(version.checksum !== undefined && { checksum: version.checksum }),
        image: version.image ?? image ?? server.image,
        ...(own && { resources: own }),
        scaling: bounded({ ...scaling, ...version.scaling }),
        args: [...args, ...(version.args ?? [])],
        env: [...env, ...(version.env ?? [])],
        envFrom: [...envFrom, ...(version.envFrom ?? [])],
        volumes: [...volumes, ...(version.volumes ?? [])],
        volumeMounts: [...volumeMounts, ...(version.volumeMounts ?? [])],
        podTemplates: [podTemplate, version.podTemplate].filter((template) => template !== undefined),
      }
    }),
  }
}

/** A version that raises only the lower bound raises the upper bound with it. */
function bounded(scaling: Scaling): Scaling {
  return { ...scaling, maxReplicas: Math.max(scaling.minReplicas, scaling.maxReplicas) }
}

const AUTOSCALED = { minReplicas: 1, maxReplicas: 10, targetCPUUtilization: 70 }
const ONE_POD = { minReplicas: 1, maxReplicas: 1 }

function fromMlops({ metadata, spec }: MlopsModelDeployment, server: ModelServerSpec): ServedModel {
  const { modelURI, runtimeImage, resources, validateScript, autoscale, version } = spec
  return {
    metadata,
    modelName: metadata.name,
    server,
    traffic: { provider: 'auto' },
    ...(validateScript !== undefined && { validation: { script: validateScript, timeoutSeconds: 600 } }),
    versions: [
      {
        name: version,
        weight: 100,
        uri: modelURI,
        image: runtimeImage ?? server.image,
        ...(resources && { resources }),
        scaling: autoscale ? AUTOSCALED : ONE_POD,
        args: [],
        env: [],
        envFrom: [],
        volumes: [],
        volumeMounts: [],
        podTemplates: [],
      },
    ],
  }
}
