import { readFile } from 'node:fs/promises'
import type { Credential, CredentialSource } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import { cachedCredential } from './credential-cache.ts'

/** Paths, each optional. */
export interface CredentialFiles {
  readonly token?: string
  readonly cert?: string
  readonly key?: string
}

/** The kubelet and cert-manager rotate such files in place; a minute is how often others look as well. */
const FRESH_MS = 60_000

/** Reads the files again each minute and whenever the server refuses what they said. `fixed` fills in what no file gives. */
export function credentialFiles(
  files: CredentialFiles,
  fixed: Credential = {},
  now: () => number = Date.now,
): CredentialSource {
  return cachedCredential(async () => ({ credential: await read(files, fixed), freshUntil: now() + FRESH_MS }), now)
}

async function read(files: CredentialFiles, fixed: Credential): Promise<Credential> {
  const token = files.token === undefined ? undefined : (await contentOf(files.token)).trim()
  const cert = files.cert === undefined ? undefined : await contentOf(files.cert)
  const key = files.key === undefined ? undefined : await contentOf(files.key)
  return {
    ...fixed,
    ...(token === undefined ? {} : { token }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
}

async function contentOf(path: string): Promise<string> {
  let content: string
  try {
    content = await readFile(path, 'utf8')
  } catch (error) {
    throw new ConfigError([path], 'cannot read the credential', error)
  }
  if (content.trim() === '') throw new ConfigError([path], 'the credential file is empty')
  return content
}
