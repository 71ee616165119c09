import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const server = contract('src/net/http-server.test.ts')

export const netMutants: readonly Mutant[] = [
  {
    id: 'net/connections-unlimited',
    file: 'src/net/connection-limit.ts',
    what: 'Any number of connections stays open.',
    from: 'if (open.size > max) {',
    to: 'if (open.size > most * 1_000) {',
    caughtBy: server,
  },
  {
    id: 'net/busy-connection-closed',
    file: 'src/net/connection-limit.ts',
    what: 'A connection with a request makes room for an idle one.',
    from: '.find(([name]) => !requests.has(name))',
    to: ".find(([name]) => name !== '')",
    caughtBy: server,
  },
  {
    id: 'net/requests-unlimited',
    file: 'src/net/http-server.ts',
    what: 'A client may send any number of requests on a connection.',
    from: 'server.maxRequestsPerSocket = MAX_REQUESTS_PER_CONNECTION',
    to: 'server.maxRequestsPerSocket = 0',
    caughtBy: server,
  },
]
