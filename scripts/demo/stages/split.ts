import { modelDeployments } from '../../../src/api/kinds.ts'
import type { ModelDeployment } from '../../../src/api/modeldeployment.v1.ts'
import type { Demo } from '../demo.ts'
import { apply, example } from '../manifests.ts'
import { predict, testSet } from '../requests.ts'
import type { Stage } from '../stage.ts'
import { bar } from '../terminal.ts'
import { inEffect } from './serving.ts'

const REQUESTS = 200

/** Gives a second version a tenth of the traffic, and counts the responses of each version. */
export const split: Stage = {
  title: 'A second version, with one request in ten',

  /** Never: the count is shown in every run. */
  isDone: async () => false,

  async run(demo) {
    demo.terminal.line('kubectl apply -f examples/demo-canary.yaml')
    const model = await example<ModelDeployment>('demo-canary', demo)
    await apply(demo, modelDeployments, model)
    await inEffect(demo)
    const counts = await count(demo)
    for (const { name, weight } of model.spec.versions) {
      const answered = counts.get(name) ?? 0
      demo.terminal.line(`${name.padEnd(4)} ${bar(answered / REQUESTS)} ${answered} of ${REQUESTS}, wanted ${weight} %`)
    }
    const shares = model.spec.versions.map(({ name }) => `${name} ${counts.get(name) ?? 0}`).join(', ')
    demo.seen.push(`two versions shared ${REQUESTS} requests: ${shares}`)
  },
}

/** Requests by the version that answered them. */
async function count(demo: Demo): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const { point } of testSet(REQUESTS)) {
    const { version } = await demo.until('an answer', () => predict(demo, [point]), 60_000)
    counts.set(version, (counts.get(version) ?? 0) + 1)
  }
  return counts
}
