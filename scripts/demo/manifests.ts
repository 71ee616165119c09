/** The manifests of the demo: those in `examples`, in the demo's namespace. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { KubeObject, Resource } from '../../src/kube/object.ts'
import { Namespace } from '../../src/kube/resources.ts'
import type { Demo } from './demo.ts'

const EXAMPLES = join(import.meta.dirname, '..', '..', 'examples')

export async function example<T extends KubeObject>(name: string, { namespace }: Demo): Promise<T> {
  const object = parse(await readFile(join(EXAMPLES, `${name}.yaml`), 'utf8')) as T
  return { ...object, metadata: { ...object.metadata, namespace } }
}

/** Applies an object into a namespace that enforces Pod Security `restricted`. */
export async function apply<T extends KubeObject>(demo: Demo, resource: Resource<T>, object: T): Promise<void> {
  const client = await demo.client()
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: demo.namespace, labels } }
  await client.apply(Namespace, namespace, { force: true })
  await client.apply(resource, object, { force: true })
}
