import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'

import { validationCommand } from './validation-command.ts'

const hasPython = spawnSync('python3', ['--version']).status === 0

async function place(t: TestContext, files: Readonly<Record<string, string>>) {
  const root = await mkdtemp(join(tmpdir(), 'validation-'))
  t.after(() => rm(root, { recursive: true }))
  const model = join(root, 'model')
  const image = join(root, 'image')
  await mkdir(model)
  await mkdir(image)
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  return (script: string, modelPath = model) => {
    const [program = '', ...args] = validationCommand(script)
    const env = { PATH: process.env['PATH'], MODEL_PATH: modelPath.replace('MODEL', model), MODEL_NAME: 'bert' }
    const { status, signal, stdout, stderr } = spawnSync(program, args, { cwd: image, env, encoding: 'utf8' })
    return { status, signal, stdout, stderr }
  }
}

const SAYS = (text: string): string => `print(${JSON.stringify(text)})`

describe('a validation script', { skip: hasPython ? false : 'there is no python3 here' }, () => {
  test('beside the model comes before the one in the image', async (t) => {
    const run = await place(t, { 'model/validate.py': SAYS('model'), 'image/validate.py': SAYS('image') })
    assert.deepEqual(run('validate.py'), { status: 0, signal: null, stdout: 'model\n', stderr: '' })
  })

  test('is found beside a model that is one file', async (t) => {
    const run = await place(t, { 'model/model.pt': '', 'model/checks/validate.py': SAYS('model') })
    assert.equal(run('checks/validate.py', 'MODEL/model.pt').stdout, 'model\n')
  })

  for (const path of ['model/bert/validate.py', 'model/bert/1/validate.py']) {
    test(`is found in a repository: ${path}`, async (t) => {
      assert.equal((await place(t, { [path]: SAYS('repository') }))('validate.py').stdout, 'repository\n')
    })
  }

  test('is found in the working directory of the image, and by a path in it', async (t) => {
    const run = await place(t, { 'image/validate.py': SAYS('image'), 'image/checks/other.py': SAYS('other') })
    assert.equal(run('validate.py').stdout, 'image\n')
    assert.equal(run('checks/other.py').stdout, 'other\n')
  })

  test('imports what lies beside it, as any script does', async (t) => {
    const script = 'import cases; print(cases.COUNT)'
    const run = await place(t, { 'model/validate.py': script, 'model/cases.py': 'COUNT = 3' })
    assert.equal(run('validate.py').stdout, '3\n')
  })

  test('that fails: its own exit code and words', async (t) => {
    const run = await place(t, { 'model/validate.py': 'import sys; sys.exit("accuracy 0.4 is below 0.9")' })
    assert.deepEqual(run('validate.py'), { status: 1, signal: null, stdout: '', stderr: 'accuracy 0.4 is below 0.9\n' })
    const other = await place(t, { 'model/validate.py': 'raise SystemExit(3)' })
    assert.equal(other('validate.py').status, 3)
  })

  test('that is nowhere: 127, and where it was looked for', async (t) => {
    const { status, stderr } = (await place(t, {}))('validate.py')
    assert.equal(status, 127)
    assert.match(stderr, /^validation script validate\.py is in none of \S+\/model, .*\/image: put it beside the model/)
  })
})
