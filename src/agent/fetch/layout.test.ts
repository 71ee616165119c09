import assert from 'node:assert/strict'
import { test } from 'node:test'

import { placed } from './layout.ts'
import type { RemoteFile } from './source.ts'

const files = (...paths: string[]): RemoteFile[] => paths.map((path) => ({ key: path, path, size: 1, hasRanges: true }))

const cases = [
  { name: 'one file for Triton', given: ['resnet.onnx'], want: ['vision/1/model.onnx'] },
  { name: 'one file of another kind', given: ['model.joblib'], want: ['vision/1/model.joblib'] },
  {
    name: 'a saved model',
    given: ['saved_model.pb', 'variables/variables.index'],
    want: ['vision/1/saved_model.pb', 'vision/1/variables/variables.index'],
  },
  { name: 'versions', given: ['1/model.pt', '2/model.pt'], want: ['vision/1/model.pt', 'vision/2/model.pt'] },
  {
    name: 'a model with configuration',
    given: ['config.pbtxt', '3/model.plan'],
    want: ['vision/config.pbtxt', 'vision/3/model.plan'],
  },
  {
    name: 'a repository',
    given: ['vision/config.pbtxt', 'vision/1/model.onnx', 'other/1/model.onnx'],
    want: ['vision/config.pbtxt', 'vision/1/model.onnx', 'other/1/model.onnx'],
  },
]

for (const { name, given, want } of cases) {
  test(`a repository is made of ${name}`, () => {
    const paths = placed(files(...given), 'repository', 'vision').map(({ path }) => path)
    assert.deepEqual(paths, want)
  })
}

test('the layout file keeps all paths', () => {
  assert.deepEqual(
    placed(files('a.bin', 'b/c.json'), 'file').map(({ path }) => path),
    ['a.bin', 'b/c.json'],
  )
})

test('rejects a repository without the model', () => {
  assert.throws(
    () => placed(files('bert/1/model.onnx'), 'repository', 'vision'),
    /repository of bert, without a model named vision/,
  )
})
