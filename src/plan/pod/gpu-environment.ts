/**
 * Hides GPUs from a container that requests no device. The NVIDIA runtime exposes those in `NVIDIA_VISIBLE_DEVICES`, which an
 * image, or a ConfigMap or Secret in `envFrom`, may set. A variable in `env` overrides both, and `void` means none.
 *
 * A container that requests devices gets no value: it would override the devices that the device plugin allocated.
 */
import type { Resources } from './resources.ts'

interface Variable {
  readonly name: string
  readonly value: string
}

const noDevices: Variable = { name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }

export function gpuEnvironment({ requests, limits }: Resources): Variable[] {
  return [requests, limits].some(requestsDevices) ? [] : [noDevices]
}

/** Whether `gpuEnvironment` adds this variable: it follows from the resources, not from the environment of the spec. */
export const isGpuEnvironment = ({ name, value }: Partial<Variable>): boolean =>
  name === noDevices.name && value === noDevices.value

/** Devices are extended resources, whose names have a domain: `nvidia.com/gpu`, `nvidia.com/mig-1g.5gb`. */
export const isDevice = (resourceName: string): boolean => resourceName.includes('/')

function requestsDevices(amounts: Readonly<Record<string, string>>): boolean {
  return Object.entries(amounts).some(([name, amount]) => isDevice(name) && amount !== '0')
}
