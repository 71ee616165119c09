/** The images that serving starts by itself. */
import type { ImageUse } from '../../image-use.ts'
import { trafficImages } from '../../traffic/index.ts'
import type { ServingConfig } from '../config.ts'
import { builtInRuntimes } from './runtime.ts'

export function servingImages(config: ServingConfig): ImageUse[] {
  const runtimes = Object.entries(builtInRuntimes)
  return [
    ...trafficImages(config),
    ...runtimes.map(([name, { image }]) => ({ image, purpose: `models with the runtime ${name}` })),
  ]
}
