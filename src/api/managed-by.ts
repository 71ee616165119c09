/** Which controller runs a job. A controller of another cluster, such as that of MultiKueue, can run it in place of the operator. */

import { LABEL_KEY } from './affinity.ts'
import { text } from './schema.ts'

const OURS = 'ml.example.com/training-controller'

export const managedBy = text({
  description:
    `Controller that runs the job. The operator leaves a job alone that has another value than \`${OURS}\`: ` +
    'that controller creates the pods and writes the status. Immutable.',
  maxLength: 63,
  pattern: LABEL_KEY,
  examples: ['kueue.x-k8s.io/multikueue'],
})

export const isManagedByOthers = ({ spec }: { readonly spec: { readonly managedBy?: string } }): boolean =>
  spec.managedBy !== undefined && spec.managedBy !== OURS
