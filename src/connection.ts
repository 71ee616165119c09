/** The flags by which a command finds the API server. */
import type { Flags, Values } from './command/flags.ts'
import { type ClientConfig, loadConfig } from './kube/config.ts'

export const kubeconfigFlag = {
  kubeconfig: { value: 'FILE', help: 'kubeconfig; default: $KUBECONFIG, the service account, ~/.kube/config' },
} as const satisfies Flags

export const connectionFlags = {
  ...kubeconfigFlag,
  context: { value: 'NAME', help: 'context of the kubeconfig; default: its current one' },
} as const satisfies Flags

export function connection(
  { kubeconfig, context }: Partial<Values<typeof connectionFlags>>,
  env: NodeJS.ProcessEnv,
): Promise<ClientConfig> {
  return loadConfig({ ...(kubeconfig !== undefined && { kubeconfig }), ...(context !== undefined && { context }), env })
}
