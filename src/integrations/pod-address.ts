/** Which addresses of pods the operator connects to. */
import { BlockList, isIP } from 'node:net'

/** Networks that no pod is in: this host, link-local (the metadata services of clouds), and multicast. */
const FORBIDDEN: readonly (readonly [network: string, prefix: number, family: 'ipv4' | 'ipv6'])[] = [
  ['0.0.0.0', 8, 'ipv4'],
  ['127.0.0.0', 8, 'ipv4'],
  ['169.254.0.0', 16, 'ipv4'],
  ['224.0.0.0', 4, 'ipv4'],
  ['240.0.0.0', 4, 'ipv4'],
  ['::', 128, 'ipv6'],
  ['::1', 128, 'ipv6'],
  ['fe80::', 10, 'ipv6'],
  ['ff00::', 8, 'ipv6'],
  ['fd00:ec2::', 32, 'ipv6'],
]

const forbidden = new BlockList()
for (const [network, prefix, family] of FORBIDDEN) forbidden.addSubnet(network, prefix, family)

/**
 * Whether the text is the IP address that a pod can have. The kubelet reports it, but whoever can write the status of pods
 * can report another one, to make the operator send a request there.
 */
export function isPodAddress(text: string): boolean {
  const version = isIP(text)
  // The list matches IPv4 addresses inside of IPv6 addresses too.
  return version !== 0 && !forbidden.check(text, version === 4 ? 'ipv4' : 'ipv6')
}
