/** The chart as Helm renders it. */
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KubeObject } from '../../src/kube/object.ts'
import type { HelmMajor } from '../../testenv/helm.ts'
import { helmFor } from './helm.ts'

export const CHART = join(import.meta.dirname, '..', '..', 'charts', 'ml-operator')
export const SYSTEM = 'ml-operator-system'

/** The objects of a manifest by kind and name: `Deployment/ml-operator`. */
export function objectsOf(text: string): Map<string, KubeObject> {
  return new Map(documentsOf(text).map((object) => [`${object.kind}/${object.metadata.name}`, object]))
}

export function documentsOf(text: string): KubeObject[] {
  return parseAllDocuments(text)
    .map((document) => document.toJS() as KubeObject | null)
    .filter((object) => object !== null)
}

/** The manifest of a release `ml-operator` with these flags. */
export async function rendered(major: HelmMajor, ...flags: string[]): Promise<string> {
  const helm = await helmFor(major)
  return helm('template', 'ml-operator', CHART, `--namespace=${SYSTEM}`, ...flags)
}

/** A flag that sets one value of the chart. */
export const setting = (path: string, value: unknown): string => `--set-json=${path}=${JSON.stringify(value)}`
