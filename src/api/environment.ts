/** Environment variables that users set for pods. */

import { cel, listMap, object, text } from './schema.ts'

/** `gpus` is the field that requests GPUs in the same kind; the error message refers to it. */
export const environment = (description: string, gpus: string) =>
  listMap(
    object(
      {
        name: text({
          description: 'Name of the variable.',
          examples: ['OMP_NUM_THREADS'],
          minLength: 1,
          maxLength: 253,
          pattern: '^[-._a-zA-Z][-._a-zA-Z0-9]*$',
          rules: [
            cel(
              `self != 'NVIDIA_VISIBLE_DEVICES'`,
              `env[].name must not be NVIDIA_VISIBLE_DEVICES, which exposes GPUs of other pods: request GPUs with ${gpus}`,
            ),
          ],
        }),
        value: text({ description: 'Value of the variable.', maxLength: 32768, default: '', examples: ['4'] }),
      },
      { description: 'An environment variable.' },
    ),
    ['name'],
    { description, maxItems: 128, examples: [[{ name: 'OMP_NUM_THREADS', value: '4' }]] },
  )
