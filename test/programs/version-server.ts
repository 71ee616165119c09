/**
 * A fake server of one model version: responds to every request with its name. `/slow` is delayed, `/fail` returns 500,
 * `/crash` ends the process without a response. `/slow` and `/crash` are printed.
 * Usage: version-server.ts NAME PORT
 */
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

const [name = 'v1', port = '0'] = process.argv.slice(2)
const SLOW_MS = 2_000

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    if (request.url === '/crash') {
      process.stdout.write('crash\n')
      process.exit(1)
    }
    if (request.url === '/fail') response.writeHead(500)
    if (request.url === '/slow') process.stdout.write('slow\n')
    const pause = request.url === '/slow' ? delay(SLOW_MS) : Promise.resolve()
    void pause.then(() => response.end(name))
  })
})
server.listen(Number(port), '127.0.0.1', () => process.stdout.write('ready\n'))
