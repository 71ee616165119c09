import assert from 'node:assert/strict'
import test from 'node:test'
import { proxyFor } from './proxy.ts'

const proxy = 'http://proxy:3128'

test('the variable depends on the scheme of the server, in upper or lower case', () => {
  assert.equal(proxyFor('https://api.example.com', { HTTPS_PROXY: proxy }), proxy)
  assert.equal(proxyFor('https://api.example.com', { https_proxy: proxy }), proxy)
  assert.equal(proxyFor('https://api.example.com', { HTTP_PROXY: proxy }), undefined)
  assert.equal(proxyFor('http://api.example.com', { HTTP_PROXY: proxy }), proxy)
  assert.equal(proxyFor('https://api.example.com', {}), undefined)
  assert.equal(proxyFor('https://api.example.com', { HTTPS_PROXY: 'proxy:3128' }), proxy)
})

test('loopback addresses never use a proxy', () => {
  for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '[::1]']) {
    assert.equal(proxyFor(`https://${host}:6443`, { HTTPS_PROXY: proxy }), undefined, host)
  }
})

test('exceptions are domains, addresses, networks, ports, or everything', () => {
  const table: [server: string, noProxy: string, direct: boolean][] = [
    ['https://api.example.com', '*', true],
    ['https://api.example.com', 'api.example.com', true],
    ['https://api.example.com', 'example.com', true],
    ['https://api.example.com', '.example.com', true],
    ['https://api.example.com', '*.example.com', true],
    ['https://API.example.com', 'Api.Example.COM', true],
    ['https://badexample.com', 'example.com', false],
    ['https://api.example.com', 'other.com, api.example.com', true],
    ['https://api.example.com', 'other.com api.example.com', true],
    ['https://api.example.com:6443', 'api.example.com:6443', true],
    ['https://api.example.com', 'api.example.com:443', true],
    ['https://api.example.com', 'api.example.com:6443', false],
    ['https://10.0.0.1:6443', '10.0.0.0/8', true],
    ['https://11.0.0.1:6443', '10.0.0.0/8', false],
    ['https://10.0.0.1', '10.0.0.1', true],
    ['https://10.0.0.1', '0.0.1', false],
    ['https://[fd00::1]:6443', 'fd00::/8', true],
    ['https://[fd00::1]', 'fd00::1', true],
    ['https://[fd00::1]:6443', '[fd00::1]:6443', true],
    ['https://10.0.0.1', '10.0.0.0/99', false],
    ['https://api.example.com', '', false],
    ['https://api.example.com', ',,', false],
  ]
  for (const [server, noProxy, direct] of table) {
    const expected = direct ? undefined : proxy
    assert.equal(proxyFor(server, { HTTPS_PROXY: proxy, NO_PROXY: noProxy }), expected, `${server} ${noProxy}`)
  }
})
