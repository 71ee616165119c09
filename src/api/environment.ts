/** Environment variables that a user gives to the pods made for an object. */

import { cel, listMap, object, text } from './schema.ts'

/** `gpus` names the field that asks for GPUs there. */
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
              `env.name must not be NVIDIA_VISIBLE_DEVICES, which would reach GPUs of others: ask for GPUs with ${gpus}`,
            ),
          ],
        }),
        value: text({ description: 'Its value.', maxLength: 32768, default: '', examples: ['4'] }),
      },
      { description: 'One environment variable.' },
    ),
    ['name'],
    { description, maxItems: 128, examples: [[{ name: 'OMP_NUM_THREADS', value: '4' }]] },
  )
