/** The API in a cluster: definitions applied and established. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Client } from '../src/kube/client.ts'
import type { KubeObject } from '../src/kube/object.ts'
import { CustomResourceDefinition } from '../src/kube/resources.ts'
import { until } from './until.ts'

const ROOT = join(import.meta.dirname, '..')

export interface ManifestFile {
  readonly file: string
  readonly objects: readonly KubeObject[]
}

/** Every manifest in a folder of the repository. */
export async function manifestsIn(folder: string): Promise<ManifestFile[]> {
  const names = (await readdir(join(ROOT, folder))).filter((name) => name.endsWith('.yaml')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      const documents = parseAllDocuments(await readFile(join(ROOT, folder, name), 'utf8'))
      const objects = documents.map((document) => document.toJS() as KubeObject)
      return { file: join(ROOT, folder, name), objects }
    }),
  )
}

interface Converted extends KubeObject {
  readonly spec?: { readonly conversion?: { readonly webhook?: { readonly clientConfig?: { readonly url?: string } } } }
}

/** An operator that ran beside the cluster has left its URL, which a definition cannot have together with a Service. */
async function forgetWebhook(client: Client, name: string): Promise<void> {
  const { items } = await client.list(CustomResourceDefinition, { fieldSelector: `metadata.name=${name}` })
  const [{ spec } = {}] = items as readonly Converted[]
  if (spec?.conversion?.webhook?.clientConfig?.url === undefined) return
  await client.patch(CustomResourceDefinition, { name }, { spec: { conversion: { strategy: 'None', webhook: null } } })
}

/** Applies the definitions and waits until the server serves them. */
export async function installApi(client: Client): Promise<void> {
  for (const { objects } of await manifestsIn('config/crd')) {
    for (const object of objects) {
      await forgetWebhook(client, object.metadata.name)
      await client.apply(CustomResourceDefinition, object, { force: true })
      await until(`${object.metadata.name} to be established`, async () => {
        const { status } = await client.get(CustomResourceDefinition, { name: object.metadata.name })
        return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
      })
    }
  }
}
