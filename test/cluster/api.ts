/** Installs our CRDs into a cluster. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Client } from '../../src/kube/client.ts'
import type { KubeObject } from '../../src/kube/object.ts'
import { CustomResourceDefinition } from '../../src/kube/resources.ts'
import { until } from '../timing/until.ts'

const ROOT = join(import.meta.dirname, '..', '..')

export interface ManifestFile {
  readonly file: string
  readonly objects: readonly KubeObject[]
}

/** The manifests in a folder of the repository. */
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

/** Removes the webhook URL of an operator that ran outside the cluster: a CRD cannot have a URL and a Service. */
async function removeWebhookUrl(client: Client, name: string): Promise<void> {
  const { items } = await client.list(CustomResourceDefinition, { fieldSelector: `metadata.name=${name}` })
  const [{ spec } = {}] = items as readonly Converted[]
  if (spec?.conversion?.webhook?.clientConfig?.url === undefined) return
  await client.patch(CustomResourceDefinition, { name }, { spec: { conversion: { strategy: 'None', webhook: null } } })
}

/** Applies the CRDs and waits until they are established. */
export async function installApi(client: Client): Promise<void> {
  for (const { objects } of await manifestsIn('config/crd')) {
    for (const object of objects) {
      await removeWebhookUrl(client, object.metadata.name)
      await client.apply(CustomResourceDefinition, object, { force: true })
      await until(`${object.metadata.name} to be established`, async () => {
        const { status } = await client.get(CustomResourceDefinition, { name: object.metadata.name })
        return status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
      })
    }
  }
}
