/** The images that training starts by itself: those of jobs without an image. */
import type { ImageUse } from '../../image-use.ts'
import type { TrainingConfig } from '../config.ts'
import { frameworks } from './registry.ts'

export function trainingImages({ defaultImages }: TrainingConfig): ImageUse[] {
  const configured: Readonly<Record<string, string | undefined>> = defaultImages
  return Object.entries(frameworks).map(([name, { defaultImage }]) => ({
    image: configured[name] ?? defaultImage,
    purpose: `${name} jobs without an image`,
  }))
}
