import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'

import { type Client, createClient } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import type { ObjectKey } from '../../src/kube/object.ts'
import { Pod } from '../../src/kube/resources.ts'
import { nodeCluster, restrictedNamespace } from '../cluster/node-cluster.ts'
import { loadToolbox, toolboxPod } from '../images/toolbox.ts'
import { until } from '../timing/until.ts'

describe("a container's log", () => {
  let client: Client

  before(async () => {
    await loadToolbox()
    client = createClient(await configFromKubeconfig((await nodeCluster()).kubeconfig))
  })
  after(() => client.close())

  async function started(t: TestContext, script: string): Promise<ObjectKey> {
    const kubectl = await restrictedNamespace(t)
    await kubectl.with([toolboxPod('speaker', script)], 'create')
    const namespace = await kubectl('get', 'pod', 'speaker', '-o=jsonpath={.metadata.namespace}')
    const key = { namespace, name: 'speaker' }
    await until('the container to start', async () => {
      const { phase } = (await client.get(Pod, key)).status ?? {}
      return phase === 'Running' || phase === 'Succeeded'
    })
    return key
  }

  test('is read whole, or its tail', async (t) => {
    const key = await started(t, 'echo one; echo zwö; echo three')
    await until('the container to end', async () => (await client.get(Pod, key)).status?.phase === 'Succeeded')
    assert.equal(await client.logs(key), 'one\nzwö\nthree\n')
    assert.equal(await client.logs(key, { tailLines: 1, container: 'main' }), 'three\n')
    assert.match(await client.logs(key, { timestamps: true, limitBytes: 20 }), /^\d{4}-\d\d-\d\dT/)
    await assert.rejects(client.logs(key, { container: 'other' }), { code: 400 })
  })

  test('is followed line by line to its end', async (t) => {
    const key = await started(t, 'for i in 1 2 3; do echo $i; sleep 0.3; done')
    const lines: string[] = []
    for await (const line of client.streamLogs(key, { follow: true })) lines.push(line)
    assert.deepEqual(lines, ['1', '2', '3'])
  })

  test('is followed until the reader aborts', async (t) => {
    const key = await started(t, 'while true; do echo tick; sleep 0.1; done')
    const stop = new AbortController()
    const reason = new Error('enough')
    let seen = 0
    await assert.rejects(async () => {
      for await (const line of client.streamLogs(key, { follow: true, signal: stop.signal })) {
        assert.equal(line, 'tick')
        seen += 1
        if (seen === 3) stop.abort(reason)
      }
    }, reason)
  })
})
