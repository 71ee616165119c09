/**
 * Preloaded into the operator's process: requests for the reports of routers go to the server of the test at the port in
 * `TEST_REPORT_SERVER`, because the pods of a fake kubelet have no network. The server finds the pod by the header `Host`.
 */
import { Agent, buildConnector, setGlobalDispatcher } from 'undici'
import { REPORT_PORT } from '../../src/api/router-report.ts'

const server = process.env['TEST_REPORT_SERVER'] ?? ''
const connect = buildConnector({})

setGlobalDispatcher(
  new Agent({
    connect: (options, callback) => {
      const isReport = options.port === String(REPORT_PORT)
      connect(isReport ? { ...options, hostname: '127.0.0.1', port: server } : options, callback)
    },
  }),
)
