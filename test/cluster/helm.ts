import { provideHelm, type HelmMajor } from '../../testenv/helm.ts'
import { runCommand } from '../../testenv/command.ts'

export type Helm = (...args: string[]) => Promise<string>

/** Helm of a major version, for the cluster of a kubeconfig. */
export async function helmFor(major: HelmMajor, kubeconfig?: string): Promise<Helm> {
  const helm = await provideHelm(major)
  const cluster = kubeconfig === undefined ? [] : ['--kubeconfig', kubeconfig]
  return (...args) => runCommand([helm, ...args, ...cluster])
}
