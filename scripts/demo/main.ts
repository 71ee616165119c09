/** `make demo` and `make demo-down`. */

import { rmSync } from 'node:fs'
import { Namespace } from '../../src/kube/resources.ts'
import { elapsed } from '../../testenv/progress.ts'
import { Demo } from './demo.ts'
import { removeLocalCluster } from './local-cluster.ts'
import { missingFor, slowParts } from './prerequisites.ts'
import { type Settings, settingsFrom, VARIABLES } from './settings.ts'
import type { Stage } from './stage.ts'
import { cluster } from './stages/cluster.ts'
import { images } from './stages/images.ts'
import { operator } from './stages/operator.ts'
import { serving } from './stages/serving.ts'
import { split } from './stages/split.ts'
import { training } from './stages/training.ts'
import { summarize } from './summary.ts'
import { Terminal } from './terminal.ts'

const USAGE = `usage: scripts/demo/main.ts up | down\n\n${VARIABLES}`

/** Nothing is installed into an existing cluster. */
function stagesFor({ fast, kubeconfig }: Settings): Stage[] {
  const setup = kubeconfig === undefined ? [cluster, images, operator] : []
  return [...setup, training, serving, ...(fast ? [] : [split])]
}

async function up(settings: Settings, signal: AbortSignal): Promise<void> {
  const began = Date.now()
  const missing = await missingFor(settings)
  if (missing.length > 0) throw new Error(`the demo needs, and this machine lacks:\n${list(missing)}`)
  const demo = new Demo(settings, new Terminal(), signal)
  introduce(demo)
  try {
    const stages = stagesFor(settings)
    for (const [index, stage] of stages.entries()) {
      demo.terminal.heading(`${index + 1}/${stages.length}`, stage.title)
      await play(stage, demo)
    }
    await summarize(demo, Date.now() - began)
  } finally {
    await demo.close()
  }
}

function introduce({ terminal, settings }: Demo): void {
  const slow = slowParts(settings)
  const usual = settings.fast ? 'about two minutes' : 'about four minutes'
  terminal.line('ml-operator: train a model, lose a worker, serve the model, bring in a second version.')
  terminal.line(slow.length === 0 ? `This takes ${usual}.` : `This takes ${usual}, and this first time also:`)
  for (const part of slow) terminal.line(`- ${part}`)
}

async function play(stage: Stage, demo: Demo): Promise<void> {
  demo.signal.throwIfAborted()
  if (await stage.isDone(demo)) return demo.terminal.line('was done before')
  const began = Date.now()
  await stage.run(demo)
  demo.terminal.line(`(${elapsed(Date.now() - began)})`)
}

async function down(settings: Settings): Promise<void> {
  if (settings.kubeconfig !== undefined) {
    const demo = new Demo(settings, new Terminal(), AbortSignal.timeout(60_000))
    await (await demo.client()).delete(Namespace, { name: settings.namespace })
    await demo.close()
    return demo.terminal.line(`Namespace ${settings.namespace} is being deleted.`)
  }
  const removed = await removeLocalCluster(settings)
  rmSync(settings.directory, { recursive: true, force: true })
  process.stdout.write(removed ? 'The demo is removed.\n' : 'There is no demo.\n')
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `  - ${line}\n`).join('')
}

/** Aborted by Ctrl-C, which keeps the cluster. A second Ctrl-C ends the process at once. */
function interruption(): AbortSignal {
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  return stop.signal
}

const settings = settingsFrom(process.env)
const signal = interruption()
try {
  const [command] = process.argv.slice(2)
  if (command === 'up') await up(settings, signal)
  else if (command === 'down') await down(settings)
  else {
    process.stderr.write(USAGE)
    process.exitCode = 2
  }
} catch (error) {
  if (signal.aborted) {
    process.stdout.write('\nStopped. `make demo` continues from here, `make demo-down` removes everything.\n')
    process.exit(130)
  }
  process.stderr.write(`\nmake demo: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
