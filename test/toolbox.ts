import { buildImage, type Image, type ImageFile } from '../testenv/image.ts'
import { nodeCluster } from './node-cluster.ts'

/** A small image for tests: a shell with the usual tools, a web server, kubectl. */
export const TOOLBOX = 'testenv/toolbox:1'

const APPLETS = [
  'cat',
  'date',
  'echo',
  'grep',
  'hostname',
  'httpd',
  'ls',
  'nslookup',
  'sh',
  'sleep',
  'touch',
  'true',
  'wget',
]

export async function loadToolbox(): Promise<void> {
  const cluster = await nodeCluster()
  await cluster.load(await toolbox(cluster.binaries.path('kubectl')))
}

async function toolbox(kubectl: string): Promise<Image> {
  const links = APPLETS.map((name): [string, ImageFile] => [`/bin/${name}`, { linkTo: '/bin/busybox' }])
  return buildImage({
    name: TOOLBOX,
    files: {
      '/bin/busybox': { copyOf: '/bin/busybox', mode: 0o755 },
      '/bin/kubectl': { copyOf: kubectl, mode: 0o755 },
      '/www/index.html': { text: 'hello\n' },
      '/etc/passwd': { text: 'nobody:x:65532:65532:nobody:/:/bin/sh\n' },
      ...Object.fromEntries(links),
    },
    command: ['sleep', 'infinity'],
  })
}

/** A container of the toolbox that passes Pod Security `restricted`. */
export function toolboxContainer(script: string, extra: object = {}): object {
  return {
    name: 'main',
    image: TOOLBOX,
    imagePullPolicy: 'Never',
    command: ['sh', '-c', script],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    },
    ...extra,
  }
}

export function toolboxPod(
  name: string,
  script: string,
  extra: { metadata?: object; spec?: object; container?: object } = {},
): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: name }, ...extra.metadata },
    spec: {
      restartPolicy: 'Never',
      terminationGracePeriodSeconds: 0,
      containers: [toolboxContainer(script, extra.container)],
      ...extra.spec,
    },
  }
}
