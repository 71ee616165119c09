/** Random data for the Secrets of a job. It is generated here because the planner is pure. */
import type { GeneratedData, SecretData, SecretGenerator } from '../plan/training/index.ts'
import { generateSshKeyPair } from './ssh-keys.ts'

const generators: Readonly<Record<SecretGenerator, () => Promise<SecretData>>> = {
  sshKeyPair: async () => {
    const { privateKey, publicKey } = await generateSshKeyPair()
    return { 'ssh-privatekey': privateKey, 'ssh-publickey': publicKey }
  },
}

export async function generateSecretData(wanted: readonly SecretGenerator[]): Promise<GeneratedData> {
  const entries = wanted.map(async (generator) => [generator, await generators[generator]()] as const)
  return Object.fromEntries(await Promise.all(entries))
}
