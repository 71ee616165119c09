import { kubernetes } from '../../testenv/assets.ts'
import { provideBinaries } from '../../testenv/binaries.ts'
import { elapsed } from '../../testenv/progress.ts'
import type { Demo } from './demo.ts'

/** Prints what happened, how long it took, and the next steps. */
export async function summarize({ terminal, settings, seen, kubeconfig }: Demo, tookMs: number): Promise<void> {
  terminal.heading('✓', `Done in ${elapsed(tookMs)}`)
  for (const line of seen) terminal.line(`- ${line}`)
  terminal.line()
  terminal.line('Look around:')
  terminal.line(`  export KUBECONFIG=${kubeconfig}`)
  if (settings.kubeconfig === undefined)
    terminal.line(`  alias kubectl=${(await provideBinaries([kubernetes])).path('kubectl')}`)
  terminal.line(`  kubectl get tj,md,pods -n ${settings.namespace}`)
  terminal.line(`  kubectl describe trainingjob spiral -n ${settings.namespace}`)
  terminal.line(`  kubectl describe modeldeployment spiral -n ${settings.namespace}`)
  terminal.line(`  kubectl get events -n ${settings.namespace} --sort-by=.metadata.creationTimestamp`)
  terminal.line()
  terminal.line('The manifests that were applied: examples/demo-*.yaml. What to try next: docs/quickstart.md.')
  const down = settings.kubeconfig === undefined ? 'make demo-down' : `DEMO_KUBECONFIG=${kubeconfig} make demo-down`
  terminal.line(`\`${down}\` removes everything.`)
}
