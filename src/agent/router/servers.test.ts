import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { divisionOf, parseRetries, parseServers } from './servers.ts'

const STATE = `1
# be_id be_name srv_id srv_name srv_addr srv_op_state srv_admin_state srv_uweight srv_iweight srv_fqdn srv_port
3 versions 1 v1 10.0.0.1 2 0 90 0 - 8080
3 versions 2 v2 10.0.0.2 2 0 10 0 - 8080
3 versions 3 v3 10.0.0.3 0 1 50 0 - 8080
3 versions 4 -nobody 127.0.0.1 2 0 1 1 - 1
`

describe('the servers of HAProxy', () => {
  test('are parsed by the names of the columns', () => {
    const servers = parseServers(STATE)
    assert.deepEqual(servers[0], { name: 'v1', ip: '10.0.0.1', port: 8080, weight: 90, enabled: true })
    assert.equal(servers[2]?.enabled, false)
    assert.equal(servers.length, 3)
    assert.deepEqual(
      [...divisionOf(servers)],
      [
        ['v1', 90],
        ['v2', 10],
      ],
    )
  })

  test('rejects a table with too many rows', () => {
    assert.throws(() => parseServers(STATE + '1\n'.repeat(10_000)), /lists 10004 servers/)
  })

  test('a response without a table is an error, not an empty backend', () => {
    assert.throws(() => parseServers("Can't find backend."), /lists no servers/)
    assert.throws(() => parseRetries("Can't find backend."), /returns no statistics/)
  })

  test('retries are parsed by the names of the columns, also if a count is missing', () => {
    const response = '# pxname,svname,econ,wretr,wredis,\nversions,v1,0,2,3,\nversions,v2,0,,,\n\n'
    assert.deepEqual(
      [...parseRetries(response)],
      [
        ['v1', 5],
        ['v2', 0],
      ],
    )
  })
})
