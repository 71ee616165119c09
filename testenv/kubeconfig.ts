import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { stringify } from 'yaml'

import type { Pki } from './pki.ts'
import { subdirectory } from './run-directory.ts'

export interface Identity {
  /** The kubeconfig's file name, and the user's name unless `commonName` is set. */
  readonly name: string
  readonly commonName?: string
  readonly organization?: string
}

/** Issues a client certificate for the identity and writes a self-contained kubeconfig with it. */
export function writeKubeconfig(runDirectory: string, pki: Pki, server: string, identity: Identity): string {
  const { organization } = identity
  const files = pki.issue(identity.name, {
    commonName: identity.commonName ?? identity.name,
    ...(organization === undefined ? {} : { organization }),
    usages: ['client'],
  })
  const path = join(subdirectory(runDirectory, 'kubeconfig'), identity.name)
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'testenv',
    contexts: [{ name: 'testenv', context: { cluster: 'testenv', user: identity.name } }],
    clusters: [
      {
        name: 'testenv',
        cluster: { server, 'certificate-authority-data': base64(pki.file('ca.crt')) },
      },
    ],
    users: [
      {
        name: identity.name,
        user: { 'client-certificate-data': base64(files.cert), 'client-key-data': base64(files.key) },
      },
    ],
  }
  writeFileSync(path, stringify(content), { mode: 0o600 })
  return path
}

function base64(path: string): string {
  return readFileSync(path).toString('base64')
}
