import { runCommand } from './command.ts'

/** The time of all files, so that builds are reproducible. */
const EPOCH = '@0'

/** The same files give the same archive, byte for byte. */
export async function packReproducibly(directory: string, output: string, entries: readonly string[]): Promise<void> {
  const reproducible = ['--sort=name', `--mtime=${EPOCH}`, '--owner=0', '--group=0', '--numeric-owner', '--format=gnu']
  await runCommand(['tar', ...reproducible, '--create', '--file', output, '--directory', directory, ...entries])
}
