/** The Python helper: its own unit tests, reports to a real HTTPS server, and its wheel. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { createCa } from '../../src/kube/x509.ts'
import {
  answerWith,
  HELPER,
  missingPython,
  python,
  startReportServer,
  train,
  trainPatiently,
} from '../python/report-server.ts'

const skip = missingPython

test('the unit tests of the Python helper pass', { skip }, async (t) => {
  const { code, errors } = await python(['-m', 'unittest', 'discover', '-s', HELPER])
  assert.equal(code, 0, errors)
  const [, count = '0'] = /^Ran (\d+) tests/m.exec(errors) ?? []
  assert.ok(Number(count) > 0, errors)
  t.diagnostic(errors.trim().split('\n').slice(-3).join(' '))
})

function scratch(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), 'python-helper-'))
  t.after(() => rmSync(directory, { recursive: true }))
  return directory
}

describe('reports of the Python helper', { skip, concurrency: true }, () => {
  test('a report is a POST of JSON with the token', async (t) => {
    const { reports, env } = await startReportServer(t)
    const program =
      'report(epoch=1, total_epochs=2, step=10, total_steps=20, loss=0.5, throughput=float("nan"), lr=0.1)'
    assert.deepEqual(await trainPatiently(program, env), { code: 0, out: '', errors: '' })
    assert.equal(reports.length, 1)
    const [{ path, authorization, body: { time, ...body } } = assert.fail()] = reports
    assert.equal(path, '/report/ns/job')
    assert.equal(authorization, 'Bearer first-token')
    assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual(body, { epoch: 1, totalEpochs: 2, step: 10, totalSteps: 20, loss: 0.5, metrics: { lr: 0.1 } })
  })

  test('many reports become few requests, and the last one arrives', async (t) => {
    const { reports, env } = await startReportServer(t)
    const loop = 'for step in range(1, 5001): report(step=step)'
    const { out } = await trainPatiently(`began = time.monotonic()\n${loop}\nprint(time.monotonic() - began)`, env)
    assert.ok(reports.length <= 2 + Number(out) / 2, `${reports.length} requests in ${out.trim()} s`)
    assert.equal(reports.at(-1)?.body['step'], 5000)
  })

  test('no epoch is dropped', async (t) => {
    const { reports, env } = await startReportServer(t)
    await trainPatiently('for step in range(500): report(epoch=step // 100, step=step)', env)
    assert.deepEqual([...new Set(reports.map(({ body }) => body['epoch']))], [0, 1, 2, 3, 4])
    assert.equal(reports.at(-1)?.body['step'], 499)
  })

  test('a checkpoint is reported', async (t) => {
    const { reports, env } = await startReportServer(t)
    const directory = scratch(t)
    const program = 'with ml_operator.save(7) as path: (path / "model.pt").write_text("x")'
    await trainPatiently(program, { ...env, CHECKPOINT_DIR: directory })
    assert.deepEqual(reports[0]?.body['checkpoint'], { path: join(directory, 'step-00000007'), step: 7 })
  })

  test('a rotated token is used', async (t) => {
    const server = await startReportServer(t, (_request, response) => {
      server.setToken('second-token')
      response.writeHead(200).end()
    })
    await trainPatiently('report(step=1)\nml_operator.flush()\nreport(step=2)', server.env)
    const tokens = server.reports.map(({ authorization }) => authorization)
    assert.deepEqual(tokens, ['Bearer first-token', 'Bearer second-token'])
  })

  test('a report is sent again after an error of the server or an expired token', async (t) => {
    const statuses = [503, 401, 204]
    const server = await startReportServer(
      t,
      (_request, response) => void response.writeHead(statuses.shift() ?? 500).end(),
    )
    const { code, errors } = await trainPatiently('report(step=1)\nml_operator.flush()', server.env)
    assert.equal(code, 0)
    assert.match(errors, /^ml_operator: cannot report progress, the training continues: OSError: .* 503\n$/)
    assert.deepEqual(
      server.reports.map(({ body }) => body['step']),
      [1, 1, 1],
    )
  })

  test('a rejected report is not sent again', async (t) => {
    const { reports, env } = await startReportServer(t, answerWith(400))
    const { code, errors } = await trainPatiently('report(step=1)', env)
    assert.deepEqual([code, reports.length], [0, 1])
    assert.match(errors, /rejected a report with status 400\n$/)
  })

  test('a redirect is not followed', async (t) => {
    const elsewhere = await startReportServer(t)
    const location = elsewhere.env['ML_OPERATOR_REPORT_URL'] ?? ''
    const { env } = await startReportServer(t, answerWith(307, { location }))
    assert.equal((await train('report(step=1)', env)).code, 0)
    assert.deepEqual(elsewhere.reports, [])
  })

  test('a server that is down does not affect the training, and is logged once', async (t) => {
    const { stop, env } = await startReportServer(t)
    await stop()
    const { code, out, errors } = await train('for step in range(1000): report(epoch=step)\nprint("trained")', env)
    assert.deepEqual([code, out], [0, 'trained\n'])
    assert.match(errors, /^ml_operator: cannot report progress[^\n]*refused\n$/i)
  })

  test('a server that never answers does not affect the training', async (t) => {
    const { env } = await startReportServer(t, null)
    const { code, out } = await train('for step in range(1000): report(epoch=step)\nprint("trained")', env)
    assert.deepEqual([code, out], [0, 'trained\n'])
  })

  test('a server of another CA gets no token', async (t) => {
    const { reports, env } = await startReportServer(t)
    const ca = join(scratch(t), 'ca.crt')
    writeFileSync(ca, createCa({ commonName: 'other', notAfter: new Date(Date.now() + 3_600_000) }).cert)
    const { code, errors } = await train('report(step=1)', { ...env, ML_OPERATOR_REPORT_CA_FILE: ca })
    assert.equal(code, 0)
    assert.match(errors, /certificate verify failed/i)
    assert.deepEqual(reports, [])
  })

  test('a token that cannot be sent is not logged', async (t) => {
    const { env, setToken, reports } = await startReportServer(t)
    setToken('secret\nX-Other: 1')
    const { code, errors } = await train('report(step=1)', env)
    assert.equal(code, 0)
    assert.match(errors, /the file of ML_OPERATOR_REPORT_TOKEN_FILE has no token/)
    assert.doesNotMatch(errors, /secret/)
    assert.deepEqual(reports, [])
  })

  test('nothing is sent without encryption', async (t) => {
    const { env } = await startReportServer(t)
    let connections = 0
    const plain = createServer(() => void (connections += 1)).listen(0, '127.0.0.1')
    await once(plain, 'listening')
    t.after(() => plain.close())
    const { port } = plain.address() as AddressInfo
    const url = `http://127.0.0.1:${port}/`
    const { code, errors } = await train('report(step=1)', { ...env, ML_OPERATOR_REPORT_URL: url })
    assert.equal(code, 0)
    assert.match(errors, /ML_OPERATOR_REPORT_URL must start with https:\/\//)
    assert.equal(connections, 0)
  })

  test('of several local processes, the first of all reports', async (t) => {
    const { reports, env } = await startReportServer(t)
    const ranks = [0, 1, 2, 3].map((rank) => ({ ...env, RANK: String(rank), LOCAL_RANK: String(rank % 2) }))
    await Promise.all(ranks.map((rank) => trainPatiently('report(step=int(os.environ["RANK"]))', rank)))
    assert.deepEqual(
      reports.map(({ body }) => body['step']),
      [0],
    )
  })

  test('a forked process can report', async (t) => {
    const { reports, env } = await startReportServer(t)
    const child = 'report(step=2); ml_operator.flush(); os._exit(0)'
    const program = `report(step=1)\nml_operator.flush()\nif os.fork() == 0: ${child}\nos.wait()\nreport(step=3)`
    assert.equal((await trainPatiently(program, env)).code, 0)
    assert.deepEqual(
      reports.map(({ body }) => body['step']),
      [1, 2, 3],
    )
  })

  test('without the variables of the operator, a report is a line', async () => {
    const program = 'report(epoch=1, total_epochs=2, step=100, loss=0.5, lr=0.1)\nreport(step=101)'
    const { code, out, errors } = await train(program)
    assert.deepEqual([code, out, errors], [0, 'epoch=1/2 step=100 loss=0.5 lr=0.1\nstep=101\n', ''])
  })
})

describe('the wheel of the Python helper', { skip, concurrency: true }, () => {
  const { version } = JSON.parse(readFileSync(join(HELPER, '..', 'package.json'), 'utf8')) as {
    readonly version: string
  }
  const name = `ml_operator-${version}-py3-none-any.whl`
  const pip = async (t: TestContext): Promise<boolean> => {
    const { out } = await python(['-m', 'pip', '--version'])
    const [, major = '0', minor = '0'] = /^pip (\d+)\.(\d+)/.exec(out) ?? []
    const isRecent = Number(major) * 100 + Number(minor) >= 2203
    if (!isRecent) t.skip('needs pip 22.3')
    return isRecent
  }

  test('has the version of the operator, and the same bytes each time', async (t) => {
    const [first, second] = [scratch(t), scratch(t)]
    for (const directory of [first, second])
      assert.deepEqual(await python([join(HELPER, 'wheel_builder.py'), directory]), {
        code: 0,
        out: `${name}\n`,
        errors: '',
      })
    assert.deepEqual(readFileSync(join(first, name)), readFileSync(join(second, name)))
  })

  test('pip builds the same wheel from the source, without an index', async (t) => {
    if (!(await pip(t))) return
    const [own, directory] = [scratch(t), scratch(t)]
    await python([join(HELPER, 'wheel_builder.py'), own])
    const { code, errors } = await python(['-m', 'pip', 'wheel', '--no-index', '--wheel-dir', directory, HELPER])
    assert.equal(code, 0, errors)
    assert.deepEqual(readdirSync(directory), [name])
    assert.deepEqual(readFileSync(join(directory, name)), readFileSync(join(own, name)))
  })

  test('pip installs it into a new environment, without an index', async (t) => {
    if (!(await pip(t))) return
    const directory = scratch(t)
    await python([join(HELPER, 'wheel_builder.py'), directory])
    const environment = join(directory, 'environment')
    // Debian has ensurepip in a package of its own, so pip installs from outside.
    assert.equal((await python(['-m', 'venv', '--without-pip', environment])).code, 0)
    const program = join(environment, 'bin', 'python')
    const wheel = join(directory, name)
    const { code, errors } = await python(['-m', 'pip', '--python', program, 'install', '--no-index', wheel])
    assert.equal(code, 0, errors)
    const script = `import subprocess, sys; sys.exit(subprocess.call(["${program}", "-I", "-c", "import ml_operator; ml_operator.report(epoch=1)"]))`
    assert.deepEqual(await python(['-c', script]), { code: 0, out: 'epoch=1\n', errors: '' })
  })
})
