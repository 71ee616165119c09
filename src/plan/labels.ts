/**
 * The labels that Kubernetes recommends for every object, so that tools can group the objects of a job or a model. No
 * selector uses them: selectors of existing objects cannot change, and other tools may set these labels too.
 */
import { fingerprint } from './fingerprint.ts'

const PREFIX = 'app.kubernetes.io/'

export interface Described {
  /** As the label `app`. */
  readonly name: string
  /** Name of the owner. */
  readonly instance: string
  /** What the object is for. */
  readonly component: string
  readonly version?: string | undefined
}

export function recommendedLabels({ name, instance, component, version }: Described): Record<string, string> {
  return {
    'app.kubernetes.io/name': labelValue(name),
    'app.kubernetes.io/instance': labelValue(instance),
    'app.kubernetes.io/component': labelValue(component),
    'app.kubernetes.io/part-of': 'ml-operator',
    'app.kubernetes.io/managed-by': 'ml-operator',
    ...(version !== undefined && { 'app.kubernetes.io/version': labelValue(version) }),
  }
}

export function withoutRecommended(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).filter(([key]) => !key.startsWith(PREFIX)))
}

const MAX_LABEL_VALUE = 63

/** A valid label value. A name that is too long for one is cut and ends with its fingerprint, so that names stay distinct. */
export function labelValue(name: string): string {
  if (name.length <= MAX_LABEL_VALUE) return name
  const end = fingerprint(name)
  return `${name.slice(0, MAX_LABEL_VALUE - end.length - 1).replace(/[^0-9A-Za-z]+$/, '')}-${end}`
}
