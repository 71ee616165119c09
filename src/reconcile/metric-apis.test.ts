import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../../test/timing/until.ts'
import { ApiError } from '../kube/errors.ts'
import { systemClock } from '../runtime/index.ts'
import { MetricApis } from './metric-apis.ts'

const CUSTOM = '/apis/custom.metrics.k8s.io'

/** Discovery that answers each path with its own list of answers, the last one again and again. */
function apisOf(answers: Readonly<Record<string, readonly (boolean | Error)[]>>, pollMs = 0) {
  const asked: string[] = []
  const request = async ({ path }: { readonly path: string }): Promise<object> => {
    const own = answers[path] ?? [false]
    const answer = own[Math.min(asked.filter((other) => other === path).length, own.length - 1)]
    asked.push(path)
    if (answer instanceof Error) throw answer
    if (answer !== true) throw new ApiError({ code: 404 }, { verb: 'get', path })
    return {}
  }
  return { asked, apis: new MetricApis({ client: { request }, clock: systemClock, pollMs }) }
}

/** What is known after so many questions for the API, in the background or not. */
async function known({ apis, asked }: ReturnType<typeof apisOf>, questions: number): Promise<string[]> {
  await until(`${questions} questions`, async () => {
    await apis.read()
    return asked.filter((path) => path === CUSTOM).length >= questions
  })
  return [...((await apis.read()) ?? ['unknown'])]
}

test('an API is missing only after two answers', async () => {
  const { apis, asked } = apisOf({})
  assert.deepEqual([...((await apis.read()) ?? ['unknown'])], [])
  assert.equal(asked.filter((path) => path === CUSTOM).length, 2)
})

test('one answer that an API is missing changes nothing', async () => {
  const discovery = apisOf({ [CUSTOM]: [true, false, true] })
  assert.deepEqual(await known(discovery, 1), ['custom.metrics.k8s.io'])
  assert.deepEqual(await known(discovery, 3), ['custom.metrics.k8s.io'])
})

test('an API that comes is found', async () => {
  const discovery = apisOf({ [CUSTOM]: [false, false, true] })
  assert.deepEqual([...((await discovery.apis.read()) ?? ['unknown'])], [])
  assert.deepEqual(await known(discovery, 5), ['custom.metrics.k8s.io'])
})

test('a failed request changes nothing, and before the first answer nothing is known', async () => {
  const failing = apisOf({ [CUSTOM]: [new Error('503')] })
  assert.equal(await failing.apis.read(), undefined)
  const discovery = apisOf({ [CUSTOM]: [true, new Error('503')] })
  assert.deepEqual(await known(discovery, 1), ['custom.metrics.k8s.io'])
  assert.deepEqual(await known(discovery, 4), ['custom.metrics.k8s.io'])
})

test('many readers ask once, and not again before it is time', async () => {
  const { apis, asked } = apisOf({ [CUSTOM]: [true] }, 60_000)
  await Promise.all(Array.from({ length: 10 }, () => apis.read()))
  await apis.read()
  assert.equal(asked.filter((path) => path === CUSTOM).length, 1)
})
