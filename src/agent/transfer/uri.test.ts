import assert from 'node:assert/strict'
import { test } from 'node:test'

import { relativePath } from './relative-path.ts'
import { objectUri, shownUri } from './uri.ts'

test('shown URIs contain no secrets', () => {
  const cases = [
    ['https://user:pa%40ss@host/m.bin', 'https://host/m.bin'],
    ['https://host/m.bin?X-Amz-Signature=abc#frag', 'https://host/m.bin'],
    ['https://us@er:p@ss@host:8443/a@b', 'https://host:8443/a@b'],
    ['https://host', 'https://host'],
    ['s3://bucket/a/b', 's3://bucket/a/b'],
    ['hf://owner/model:main', 'hf://owner/model:main'],
    ['no uri?token=x', 'no uri'],
  ] as const
  for (const [uri, shown] of cases) assert.equal(shownUri(uri), shown)
})

test('bucket and key', () => {
  assert.deepEqual(objectUri('s3://models/a/b c+%20.bin'), { bucket: 'models', key: 'a/b c+%20.bin' })
  assert.deepEqual(objectUri('gs://models'), { bucket: 'models', key: '' })
  assert.deepEqual(objectUri('gs://models/a/'), { bucket: 'models', key: 'a/' })
  for (const uri of ['s3://', 's3:///key', 's3://user:secret@bucket/key']) assert.equal(objectUri(uri), undefined, uri)
})

test('names stay below the directory', () => {
  for (const name of ['a', 'a/b.bin', '..a/b..', 'a b/ü']) assert.equal(relativePath(name), name)
  for (const name of [
    '',
    '/a',
    'a/',
    'a//b',
    '..',
    '../a',
    'a/../../b',
    './a',
    'a\0b',
    'a\\..\\b',
    '.fetch/lock',
    'a/.fetch',
  ]) {
    assert.throws(() => relativePath(name), /is not a path below/, JSON.stringify(name))
  }
})
