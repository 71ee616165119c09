/** Name, location and checksum of a version of a model. */

import { modelUriRules } from './model-uri.ts'
import { cel, DNS_LABEL, staysInside, text } from './schema.ts'

export const MAX_VERSIONS = 16

/**
 * Suffixes of child objects that exist once per model, and of the Service of a TrainingJob with the same name. A version
 * with one of these names would collide with them.
 */
export const reservedVersionNames = [
  'config',
  'deployment',
  'hpa',
  'preview',
  'router',
  'service',
  'vs',
  'workers',
] as const

/** `field` is the path that the error message names. */
export const versionName = (field: string, description: string, options: { readonly default?: string } = {}) =>
  text({
    description,
    minLength: 1,
    maxLength: 40,
    pattern: DNS_LABEL,
    examples: ['v1'],
    rules: [
      {
        rule: `!(self in [${reservedVersionNames.map((name) => `'${name}'`).join(', ')}])`,
        message: `${field} must not be one of ${reservedVersionNames.join(', ')}, which are used for other child objects: choose another name`,
      },
    ],
    ...options,
  })

export const modelChecksum = text({
  description:
    'Expected SHA-256 of the fetched model: of the file, or of the sha256sum listing of several files. ' +
    'A version with another checksum does not start.',
  pattern: '^sha256:[0-9a-f]{64}$',
  maxLength: 71,
  rules: [
    cel(
      `self.matches('^sha256:[0-9a-f]{64}$')`,
      'checksum must be sha256: and 64 hexadecimal digits in lower case: use the output of sha256sum',
    ),
  ],
  examples: [`sha256:${'0123456789abcdef'.repeat(4)}`],
})

/** Of a version: the digest of an image is its checksum. */
export const imageChecksumRule = cel(
  `!has(self.checksum) || !self.modelPath.startsWith('oci:')`,
  'versions[].checksum does not apply to an image: remove checksum, and write the digest in modelPath, for example oci://registry.example.com/models/bert@sha256:…',
  { fieldPath: '.checksum' },
)

/** Rejects URIs with credentials: everyone who can read the object could read them. */
export const modelPath = text({
  description:
    'Location of the model: an s3, gs, az, http, https or hf (owner/model) URI, pvc://claim/path, oci://registry/repository:tag, or an absolute path in the image of the server.',
  maxLength: 1024,
  rules: [
    cel(
      `self.matches('^(((s3|gs|az|https?|hf|pvc|oci)://[^/@\\\\s]+(/[^\\\\s]*)?)|(/[^\\\\s]*))$')`,
      'modelPath must be an s3, gs, az, https, http, hf, pvc or oci URI without credentials, or an absolute path in the image: write for example s3://bucket/path or pvc://claim/path',
    ),
    ...modelUriRules('modelPath'),
    staysInside('modelPath'),
  ],
  examples: ['s3://models/sentiment/v1/model.pt'],
})
