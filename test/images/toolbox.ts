import { buildImage, type Image, type ImageFile } from '../../testenv/image.ts'
import { nodeCluster } from '../cluster/node-cluster.ts'

/** A small image for tests: Debian's essential packages, a web server and client, kubectl. */
export const TOOLBOX = 'testenv/toolbox:1'

const APPLETS = ['httpd', 'nslookup', 'wget']

export async function loadToolbox(): Promise<void> {
  const cluster = await nodeCluster()
  await cluster.load(await toolbox(cluster.binaries.path('kubectl')))
}

async function toolbox(kubectl: string): Promise<Image> {
  const links = APPLETS.map((name): [string, ImageFile] => [`/bin/${name}`, { linkTo: '/bin/busybox' }])
  return buildImage({
    name: TOOLBOX,
    packages: ['busybox-static'],
    files: {
      '/usr/local/bin/kubectl': { copyOf: kubectl, mode: 0o755 },
      '/www/index.html': { text: 'hello\n' },
      ...Object.fromEntries(links),
    },
    command: ['sleep', 'infinity'],
  })
}

/** A toolbox container that passes Pod Security `restricted`. */
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
