/**
 * Files for the container that fetches a model: credentials from a Secret, and certificates of private CAs from a ConfigMap.
 * No other container mounts them.
 */
import type { Storage } from '../../../api/serving-pod.ts'
import type { Container, Volume } from './model-source.ts'

interface FetchFiles {
  readonly env: NonNullable<Container['env']>
  readonly volumeMounts: NonNullable<Container['volumeMounts']>
  readonly volumes: readonly Volume[]
}

const DIRECTORY = '/etc/model-fetch'

export function fetchFiles({ credentialsFile, caBundle }: Pick<Storage, 'credentialsFile' | 'caBundle'>): FetchFiles {
  const files = [
    ...(credentialsFile
      ? [
          {
            name: 'credentials',
            variable: credentialsFile.variable,
            key: credentialsFile.key,
            secret: { secretName: credentialsFile.secretName, items: [itemOf(credentialsFile)] },
          },
        ]
      : []),
    ...(caBundle
      ? [
          {
            name: 'trust',
            // Node.js trusts them in addition to the public ones.
            variable: 'NODE_EXTRA_CA_CERTS',
            key: caBundle.key,
            configMap: { name: caBundle.configMapName, items: [itemOf(caBundle)] },
          },
        ]
      : []),
  ]
  return {
    env: files.map(({ name, variable, key }) => ({ name: variable, value: `${DIRECTORY}/${name}/${key}` })),
    volumeMounts: files.map(({ name }) => ({ name, mountPath: `${DIRECTORY}/${name}`, readOnly: true })),
    volumes: files.map(({ variable: _variable, key: _key, ...volume }) => volume),
  }
}

/** Only this entry: a missing one is reported by the kubelet, by name. */
const itemOf = ({ key }: { readonly key: string }) => ({ key, path: key })
