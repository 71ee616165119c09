/** The operator of an installed chart, as a process: with the arguments, the environment and the ServiceAccount of its Deployment. */
import { join } from 'node:path'
import type { Client } from '../../src/kube/client.ts'
import { Deployment } from '../../src/kube/resources.ts'
import type { ControlPlane } from '../../testenv/control-plane.ts'
import { freePorts } from '../../testenv/ports.ts'
import { SYSTEM } from '../cluster/chart.ts'
import { type OperatorProcess, startOperatorProcess } from '../operator/operator-process.ts'
import { until } from '../timing/until.ts'

const REDIRECTION = join(import.meta.dirname, '..', 'client', 'redirect-reports.ts')
const NAME = 'ml-operator'

export interface Installed {
  readonly plane: ControlPlane
  readonly client: Client
  /** Port of the server for the reports of routers. */
  readonly reportServer: number
  /** The entry point of its release, or undefined for that of this one. */
  readonly main?: string
}

export async function startInstalled({ plane, client, reportServer, main }: Installed): Promise<OperatorProcess> {
  const { spec } = await client.get(Deployment, { namespace: SYSTEM, name: NAME })
  const [{ args = [], env = [] } = {}] = spec?.template.spec?.containers ?? []
  const fixed = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]))
  const [reportPort = 0] = await freePorts(1)
  const account = plane.kubeconfigFor({ name: `system:serviceaccount:${SYSTEM}:${NAME}` })
  return startOperatorProcess(account, [...args.slice(1), `--lease-namespace=${SYSTEM}`], {
    imports: [REDIRECTION],
    env: {
      ...Object.fromEntries(fixed),
      REPORT_PORT: String(reportPort),
      POD_IP: '127.0.0.1',
      TEST_REPORT_SERVER: String(reportServer),
    },
    ...(main !== undefined && { main }),
    publishesService: true,
  })
}

const PASSES = /reconcile_duration_seconds_count\{[^}]*\} (\d+)/g

/** How many reconciles it has ended. */
export async function passesOf({ url }: OperatorProcess): Promise<number> {
  const page = await (await fetch(`${url}/metrics`)).text()
  return [...page.matchAll(PASSES)].reduce((sum, [, count]) => sum + Number(count), 0)
}

/** Waits until it leads and has reconciled at least this many objects. */
export async function reconciles(operator: OperatorProcess, objects: number): Promise<void> {
  await until(`${objects} reconciles`, async () => (await passesOf(operator)) >= objects)
}
