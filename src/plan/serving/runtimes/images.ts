/** The images that serving starts by itself. */
import type { ImageUse } from '../../image-use.ts'
import { trafficImages } from '../../traffic/index.ts'
import type { ServingConfig } from '../config.ts'
import { builtInRuntime, builtInRuntimes } from './runtime.ts'

export function servingImages(config: ServingConfig): ImageUse[] {
  const runtimes = Object.keys(builtInRuntimes).flatMap((name) => {
    const server = builtInRuntime(name, config.runtimes)
    return server ? [{ image: server.image, purpose: `models with the runtime ${name}` }] : []
  })
  return [...trafficImages(config), ...runtimes]
}
