/** The images that training starts by itself: those of jobs without an image, and the agent's. */
import type { ImageUse } from '../../image-use.ts'
import type { TrainingConfig } from '../config.ts'
import { frameworks } from './registry.ts'

export function trainingImages({ defaultImages, agentImage }: TrainingConfig): ImageUse[] {
  const configured: Readonly<Record<string, string | undefined>> = defaultImages
  const jobs = Object.entries(frameworks).map(([name, { defaultImage }]) => ({
    image: configured[name] ?? defaultImage,
    purpose: `${name} jobs without an image`,
  }))
  return [...jobs, { image: agentImage, purpose: 'checkpoints of jobs' }]
}
