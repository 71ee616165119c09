/** The operator as a process outside of the cluster, to which pods report their progress by a Service without pods. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { REPORT_PORT } from '../../src/api/training-report.ts'
import type { Client } from '../../src/kube/client.ts'
import { configFromKubeconfig } from '../../src/kube/config.ts'
import { EndpointSlice, Service } from '../../src/kube/resources.ts'
import { createCa, issue } from '../../src/kube/x509.ts'
import { freePorts } from '../../testenv/ports.ts'
import { type OperatorProcess, startOperatorProcess } from './operator-process.ts'

/** The namespace of the process's Lease. */
const key = { namespace: 'default', name: 'reporting-operator' }
const HOUR = 3_600_000

/** `config`: the content of its configuration file. `stop` also removes the Service. */
export async function startReportingProcess(
  client: Client,
  kubeconfig: string,
  config: object,
): Promise<Pick<OperatorProcess, 'log' | 'stop'>> {
  const directory = await mkdtemp(join(tmpdir(), 'operator-'))
  await writeFile(join(directory, 'config.yaml'), JSON.stringify(config))
  await writeCertificate(directory)
  const [port = 0] = await freePorts(1)
  await createService(client, new URL((await configFromKubeconfig(kubeconfig)).server).hostname, port)
  const operator = await startOperatorProcess(kubeconfig, [
    `--config=${join(directory, 'config.yaml')}`,
    `--webhook-cert-dir=${directory}`,
    `--webhook-service=${key.name}`,
    '--reports',
    `--report-port=${port}`,
  ])
  const stop = async (): Promise<number | null> => {
    const code = await operator.stop()
    await client.delete(EndpointSlice, key)
    await client.delete(Service, key)
    await rm(directory, { recursive: true })
    return code
  }
  return { log: operator.log, stop }
}

async function writeCertificate(directory: string): Promise<void> {
  const notAfter = new Date(Date.now() + HOUR)
  const ca = createCa({ commonName: 'test', notAfter })
  const dnsNames = [`${key.name}.${key.namespace}.svc`]
  const leaf = issue(ca, { commonName: 'operator', dnsNames, usages: ['server'], notAfter })
  const files = { 'ca.crt': ca.cert, 'tls.crt': leaf.cert, 'tls.key': leaf.key }
  for (const [name, content] of Object.entries(files)) await writeFile(join(directory, name), content)
}

/** `address`: the host, as pods reach it. */
async function createService(client: Client, address: string, port: number): Promise<void> {
  const named = { name: 'reports', protocol: 'TCP' }
  await client.create(Service, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: key,
    spec: { ports: [{ ...named, port: REPORT_PORT }] },
  })
  await client.create(EndpointSlice, {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { ...key, labels: { 'kubernetes.io/service-name': key.name } },
    addressType: 'IPv4',
    endpoints: [{ addresses: [address] }],
    ports: [{ ...named, port }],
  })
}
