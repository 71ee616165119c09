/**
 * A fake server of one model version: responds to every request with its name. `/slow` and `/very-slow` are delayed, `/fail`
 * returns 500, `/crash` ends the process without a response. `/slow` and `/crash` are printed.
 * Usage: version-server.ts NAME PORT
 */
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const [name = 'v1', port = '0'] = process.argv.slice(2)
const DELAYS_MS: Readonly<Record<string, number>> = { '/slow': 2_000, '/very-slow': 6_000 }

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url === '/crash') {
      process.stdout.write('crash\n')
      process.exit(1)
    }
    if (request.url === '/fail') response.writeHead(500)
    if (request.url === '/slow') process.stdout.write('slow\n')
    const ms = DELAYS_MS[request.url ?? '']
    void (ms === undefined ? Promise.resolve() : delay(ms)).then(() => response.end(name))
  })
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))
