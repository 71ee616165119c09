/** Container images and the Secrets to pull them with. */

import { cel, listMap, object, objectName, text } from './schema.ts'

export const containerImage = (description: string, example: string) =>
  text({
    description,
    minLength: 1,
    maxLength: 512,
    pattern: '^[^\\s]+$',
    examples: [example],
    rules: [
      cel(
        `self.matches('^[^\\\\s]+$')`,
        'image must not be empty or contain white space: write for example registry/name:tag',
      ),
    ],
  })

export const imagePullSecrets = listMap(
  object(
    { name: objectName('Name of the Secret.', 'registry') },
    { description: 'A Secret with registry credentials.' },
  ),
  ['name'],
  {
    description: 'Secrets for pulling images from private registries.',
    maxItems: 16,
    examples: [[{ name: 'registry' }]],
  },
)
