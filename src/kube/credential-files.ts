import { readFile } from 'node:fs/promises'
import type { Credential, CredentialSource } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { cachedCredential } from './credential-cache.ts'

/** Paths of the files. */
export interface CredentialFiles {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
  readonly ca?: string
}

/** The kubelet and cert-manager rotate such files in place. Other clients also reload them once a minute. */
const FRESH_MS = 60_000

/** Reloads the files every minute and whenever the server rejects the credential. `fixed` adds what no file contains. */
export function credentialFiles(
  files: CredentialFiles,
  fixed: Credential = {},
  now: () => number = Date.now,
): CredentialSource {
  return cachedCredential(async () => ({ credential: await read(files, fixed), freshUntil: now() + FRESH_MS }), now)
}

async function read(files: CredentialFiles, fixed: Credential): Promise<Credential> {
  const token = files.token === undefined ? undefined : (await readCredential(files.token)).trim()
  const [cert, key, ca] = await Promise.all(
    [files.cert, files.key, files.ca].map(async (path) => (path === undefined ? undefined : readCredential(path))),
  )
  return {
    ...fixed,
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(ca === undefined ? {} : { ca }),
  }
}

async function readCredential(path: string): Promise<string> {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError([path], 'cannot read the credential file', error)
  }
  if (content.trim() === '') throw new ConfigError([path], 'the credential file is empty')
  return content
}
