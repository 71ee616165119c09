import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPodAddress } from './pod-address.ts'

const pods = ['10.244.1.7', '192.168.0.9', '100.64.3.2', '198.18.0.4', 'fd00:10:244::7', '2001:db8::9']

const others = [
  '127.0.0.1',
  '127.1',
  '0.0.0.0',
  '169.254.169.254',
  '169.254.170.2',
  '::1',
  '::',
  '::ffff:127.0.0.1',
  '::ffff:169.254.169.254',
  'fe80::1',
  'fd00:ec2::254',
  'ff02::1',
  '224.0.0.1',
  '255.255.255.255',
  '2130706433',
  '0x7f000001',
  '0177.0.0.1',
  'localhost',
  'metadata.google.internal',
  'kubernetes.default.svc',
  '10.244.1.7@169.254.169.254',
  '10.244.1.7/../',
  '10.244.1.7:80#',
  '10.244.1.7\r\nHost: x',
  '10.244.1.7%00',
  '[::1]',
  '',
]

for (const address of pods) test(`a pod can have ${address}`, () => assert.equal(isPodAddress(address), true))

for (const address of others)
  test(`the operator does not connect to ${JSON.stringify(address)}`, () => assert.equal(isPodAddress(address), false))
