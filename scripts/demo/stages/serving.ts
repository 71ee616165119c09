import { modelDeployments, trainingJobs } from '../../../src/api/kinds.ts'
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import { type Demo, Fatal } from '../demo.ts'
import { predict, testSet } from '../requests.ts'
import type { Stage } from '../stage.ts'

export const MODEL = 'spiral'
const REQUESTS = 30

/** Serves the trained model, which the job has deployed, from the volume of its checkpoints. */
export const serving: Stage = {
  title: 'Serving: the trained model, deployed by its job',

  /** A later stage, which includes this one, has changed the model. */
  async isDone(demo) {
    const model = await modelOf(demo).catch(() => undefined)
    return model !== undefined && model.spec.versions.length > 1
  },

  async run(demo) {
    await demo.until('the job to deploy its model', () => deployed(demo))
    await inEffect(demo)
    await ask(demo)
  },
}

/** The condition of the job says whether the model is deployed, and else why not. */
async function deployed(demo: Demo): Promise<boolean> {
  const { status } = await (await demo.client()).get(trainingJobs, { namespace: demo.namespace, name: MODEL })
  const condition = status?.conditions?.find(({ type }) => type === 'ModelDeployed')
  if (condition?.status === 'False') throw new Fatal(`the model is not deployed: ${condition.message}`)
  if (condition) demo.terminal.line(`output.deploy: ${condition.message}`)
  return condition !== undefined
}

export async function modelOf(demo: Demo): Promise<ModelDeployment> {
  return (await demo.client()).get(modelDeployments, { namespace: demo.namespace, name: MODEL })
}

/** Waits until the status reports the weights of the spec. */
export async function inEffect(demo: Demo): Promise<void> {
  await demo.until('the weights to be in effect', async () => {
    const { metadata, spec, status = {} } = await modelOf(demo)
    const { phase = 'Pending', message = '', activeVersions = [] } = status
    if (status.observedGeneration !== metadata.generation) return false
    if (phase === 'Failed') throw new Fatal(`the model cannot be served: ${message}`)
    demo.terminal.live(`${phase.padEnd(13)} ${message}`)
    const given = new Map(activeVersions.map(({ name, weight }) => [name, weight]))
    return phase === 'Running' && spec.versions.every(({ name, weight }) => given.get(name) === weight)
  })
}

async function ask(demo: Demo): Promise<void> {
  const points = testSet(REQUESTS)
  let right = 0
  for (const [index, { point, arm }] of points.entries()) {
    const answer = await demo.until('an answer of the model', () => predict(demo, [point]), 60_000)
    const [prediction] = answer.predictions
    if (prediction === arm) right++
    if (index % 10 !== 0) continue
    const sure = ((answer.probabilities[0]?.[prediction ?? 0] ?? 0) * 100).toFixed(0)
    const at = point.map((value) => value.toFixed(2)).join(', ')
    demo.terminal.line(`POST /predict {"features": [${at}]} → arm ${prediction}, ${sure} % sure (${answer.version})`)
  }
  demo.terminal.line(`${right} of ${REQUESTS} answers are right`)
  demo.seen.push(`the trained model answered ${REQUESTS} requests, ${right} of them right`)
}
