/**
 * The built-in kinds that the operator reads or writes, typed by `kubernetes-types` (types only: nothing of it is loaded).
 * Add a missing kind here; custom kinds declare their `Resource` beside their schema.
 */
import type * as apiextensions from 'kubernetes-types/apiextensions/v1.js'
import type * as authentication from 'kubernetes-types/authentication/v1.js'
import type * as apps from 'kubernetes-types/apps/v1.js'
import type * as autoscaling from 'kubernetes-types/autoscaling/v2.js'
import type * as batch from 'kubernetes-types/batch/v1.js'
import type * as coordination from 'kubernetes-types/coordination/v1.js'
import type * as core from 'kubernetes-types/core/v1.js'
import type * as discovery from 'kubernetes-types/discovery/v1.js'
import type * as events from 'kubernetes-types/events/v1.js'
import type * as policy from 'kubernetes-types/policy/v1.js'
import type { KubeObject, Resource } from './object.ts'

/** A published type, with the three fields that every object has made mandatory. */
type Known<T> = KubeObject & Omit<T, keyof KubeObject>

export type Pod = Known<core.Pod>
export type Service = Known<core.Service>
export type ConfigMap = Known<core.ConfigMap>
export type Secret = Known<core.Secret>
export type Namespace = Known<core.Namespace>
export type Node = Known<core.Node>
export type PersistentVolumeClaim = Known<core.PersistentVolumeClaim>
export type EndpointSlice = Known<discovery.EndpointSlice>
export type Event = Known<events.Event>
export type Lease = Known<coordination.Lease>
export type Deployment = Known<apps.Deployment>
export type Job = Known<batch.Job>
export type PodDisruptionBudget = Known<policy.PodDisruptionBudget>
export type HorizontalPodAutoscaler = Known<autoscaling.HorizontalPodAutoscaler>
export type TokenReview = Known<authentication.TokenReview>
export type CustomResourceDefinition = Known<apiextensions.CustomResourceDefinition>

export const Pod: Resource<Pod> = namespaced('', 'v1', 'Pod', 'pods')
export const Service: Resource<Service> = namespaced('', 'v1', 'Service', 'services')
export const ConfigMap: Resource<ConfigMap> = namespaced('', 'v1', 'ConfigMap', 'configmaps')
export const Secret: Resource<Secret> = namespaced('', 'v1', 'Secret', 'secrets')
export const Namespace: Resource<Namespace> = clusterWide('', 'v1', 'Namespace', 'namespaces')
export const Node: Resource<Node> = clusterWide('', 'v1', 'Node', 'nodes')
export const PersistentVolumeClaim: Resource<PersistentVolumeClaim> = namespaced(
  '',
  'v1',
  'PersistentVolumeClaim',
  'persistentvolumeclaims',
)
export const EndpointSlice: Resource<EndpointSlice> = namespaced(
  'discovery.k8s.io',
  'v1',
  'EndpointSlice',
  'endpointslices',
)
export const Event: Resource<Event> = namespaced('events.k8s.io', 'v1', 'Event', 'events')
export const Lease: Resource<Lease> = namespaced('coordination.k8s.io', 'v1', 'Lease', 'leases')
export const Deployment: Resource<Deployment> = namespaced('apps', 'v1', 'Deployment', 'deployments')
export const Job: Resource<Job> = namespaced('batch', 'v1', 'Job', 'jobs')
export const PodDisruptionBudget: Resource<PodDisruptionBudget> = namespaced(
  'policy',
  'v1',
  'PodDisruptionBudget',
  'poddisruptionbudgets',
)
export const HorizontalPodAutoscaler: Resource<HorizontalPodAutoscaler> = namespaced(
  'autoscaling',
  'v2',
  'HorizontalPodAutoscaler',
  'horizontalpodautoscalers',
)
export const TokenReview: Resource<TokenReview> = clusterWide(
  'authentication.k8s.io',
  'v1',
  'TokenReview',
  'tokenreviews',
)
export const CustomResourceDefinition: Resource<CustomResourceDefinition> = clusterWide(
  'apiextensions.k8s.io',
  'v1',
  'CustomResourceDefinition',
  'customresourcedefinitions',
)

function namespaced<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: true }
}

function clusterWide<T extends KubeObject>(group: string, version: string, kind: string, plural: string): Resource<T> {
  return { group, version, kind, plural, namespaced: false }
}
