import { basename, join } from 'node:path'
import { ENVOY_IMAGE } from '../../../images/envoy.ts'
import { operatorImage } from '../../../images/operator.ts'
import { Deployment, Namespace } from '../../../src/kube/resources.ts'
import { runCommand } from '../../../testenv/command.ts'
import { provideHelm } from '../../../testenv/helm.ts'
import { archiveOf } from '../../../testenv/image.ts'
import type { Demo } from '../demo.ts'
import type { Stage } from '../stage.ts'

const CHART = join(import.meta.dirname, '..', '..', '..', 'charts', 'ml-operator')
const NAME = 'ml-operator'
const NAMESPACE = 'ml-operator-system'
const BUILD = 'ml.example.com/demo-build'

/** There is no registry, so the router uses the image that was built here. */
const CONFIG = { serving: { routerImage: ENVOY_IMAGE } }

/** Installs the chart, as users do, into a namespace that enforces Pod Security `restricted`. */
export const operator: Stage = {
  title: 'The operator, installed with its Helm chart',

  async isDone(demo) {
    const deployment = await deployed(demo)
    return deployment !== undefined && isUp(deployment)
  },

  async run(demo) {
    const helm = await provideHelm()
    const client = await demo.client()
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels } }
    await client.apply(Namespace, namespace, { force: true })
    demo.terminal.line(`helm install ${NAME} charts/ml-operator --namespace ${NAMESPACE}`)
    const values = [
      `--set-json=config=${JSON.stringify(CONFIG)}`,
      `--set-json=podAnnotations=${JSON.stringify(build())}`,
    ]
    const where = ['--namespace', NAMESPACE, '--kubeconfig', demo.kubeconfig]
    await runCommand([helm, 'upgrade', '--install', NAME, CHART, ...where, ...values])
    await demo.until('the operator to be ready', async () => isUp(await client.get(Deployment, key)))
    demo.terminal.line('two replicas are ready; one of them leads')
    demo.seen.push('the operator runs with its own ServiceAccount and least-privilege roles')
  },
}

const key = { namespace: NAMESPACE, name: NAME }

/** Replaces pods of another build, because an image of the same name may have changed. */
function build(): Record<string, string> {
  return { [BUILD]: basename(archiveOf([operatorImage()])) }
}

async function deployed(demo: Demo): Promise<Deployment | undefined> {
  return (await demo.client()).get(Deployment, key).catch(() => undefined)
}

function isUp({ metadata, spec, status }: Deployment): boolean {
  const wanted = spec?.replicas ?? 0
  const isCurrent = status?.observedGeneration === metadata.generation
  const isThisBuild = spec?.template.metadata?.annotations?.[BUILD] === build()[BUILD]
  return isCurrent && isThisBuild && status?.updatedReplicas === wanted && status?.availableReplicas === wanted
}
