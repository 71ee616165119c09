/** Where requests go beside the weights: copies, requests of testers, and clients that stay with a version. */

import { cel, type Infer, int32, list, object, optional, text } from './schema.ts'
import { versionName } from './serving-version.ts'

/** Characters of the name of a header or cookie. */
const TOKEN = "^[A-Za-z0-9!#$%&'*+.^_`|~-]+$"
/** Printable characters, no quotes and separators, so that a value is the same in a header and in a cookie. */
const VALUE = '^[!#-+./0-9:<-\\[\\]-~-]+$'

const tokenOf = (description: string, example: string) =>
  text({ description, minLength: 1, maxLength: 256, pattern: TOKEN, examples: [example] })

const pair = (what: 'header' | 'cookie', example: string) =>
  object(
    {
      name: tokenOf(`Name of the ${what}.`, example),
      value: text({
        description: `Value of the ${what}. It must be equal.`,
        minLength: 1,
        maxLength: 1_024,
        pattern: VALUE,
        examples: ['yes'],
      }),
    },
    { description: `A ${what} of the request.` },
  )

export const mirror = object(
  {
    version: versionName('traffic.mirror.version', 'Version that gets the copies.'),
    percent: int32({ description: 'Percentage of the requests to copy.', minimum: 1, maximum: 100, default: 100 }),
  },
  {
    description:
      'Sends copies of requests to a version. Its responses are discarded, and its requests, errors and latency are counted.',
    examples: [{ version: 'v2', percent: 10 }],
  },
)

export const match = list(
  object(
    {
      version: versionName('traffic.match[].version', 'Version that gets the requests, whatever its weight.'),
      header: optional(pair('header', 'x-tester')),
      cookie: optional(pair('cookie', 'tester')),
    },
    {
      description: 'Requests with a header or cookie.',
      rules: [
        cel(
          'has(self.header) != has(self.cookie)',
          'spec.traffic.match[] needs a header or a cookie, and not both: set one of them',
        ),
      ],
    },
  ),
  {
    description: 'Requests that go to a version by a header or cookie. The first match counts.',
    minItems: 1,
    maxItems: 16,
  },
)

export const stickiness = object(
  {
    cookie: optional(
      tokenOf(
        'Requests with the same value of this cookie go to the same version. Your application sets the cookie.',
        'session',
      ),
    ),
    header: optional(tokenOf('Requests with the same value of this header go to the same version.', 'x-user')),
  },
  {
    description:
      'Keeps clients with a version as long as the weights stay the same. The split is then by client, and by request without the cookie or header.',
    rules: [
      cel(
        'has(self.cookie) != has(self.header)',
        'spec.traffic.stickiness needs a cookie or a header, and not both: set one of them',
      ),
    ],
    examples: [{ cookie: 'session' }],
  },
)

/** Of a whole spec: rules name versions that exist. */
export const routingRules = [
  cel(
    '!has(self.traffic.mirror) || self.versions.exists(version, version.name == self.traffic.mirror.version)',
    'spec.traffic.mirror.version must be the name of a version: use a name of spec.versions',
    { fieldPath: '.traffic' },
  ),
  cel(
    '!has(self.traffic.match) || self.traffic.match.all(rule, self.versions.exists(version, version.name == rule.version))',
    'spec.traffic.match[].version must be the name of a version: use a name of spec.versions',
    { fieldPath: '.traffic' },
  ),
]

export type Mirror = Infer<typeof mirror>
