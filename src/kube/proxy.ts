import { BlockList, isIP } from 'node:net'

/**
 * The proxy for a server by HTTPS_PROXY, HTTP_PROXY and NO_PROXY (upper or lower case), if any. As with other tools,
 * loopback addresses never use a proxy.
 */
export function proxyFor(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server)
  const name = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const proxy = env[name] || env[name.toLowerCase()]
  if (!proxy) return undefined
  const host = url.hostname.replace(/^\[|\]$/g, '').toLowerCase()
  const port = url.port || (url.protocol === 'https:' ? '443' : '80')
  const exceptions = (env.NO_PROXY ?? env.no_proxy ?? '').toLowerCase().split(/[,\s]+/)
  const direct = isLoopback(host) || exceptions.some((entry) => entry !== '' && matches(entry, host, port))
  if (direct) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}

/** Whether an entry of NO_PROXY matches: `*`, a CIDR, an address or a domain with its subdomains, the last two with an optional port. */
function matches(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true
  if (entry.includes('/')) return matchesNetwork(entry, host)
  const [, name = '', wantedPort] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? []
  if (wantedPort !== undefined && wantedPort !== port) return false
  const domain = name.replace(/^\*?\./, '')
  return host === domain || (isIP(host) === 0 && host.endsWith(`.${domain}`))
}

function matchesNetwork(entry: string, host: string): boolean {
  const [network = '', prefix] = entry.split('/')
  const family = isIP(network)
  if (family === 0 || family !== isIP(host)) return false
  const list = new BlockList()
  try {
    list.addSubnet(network, Number(prefix), family === 6 ? 'ipv6' : 'ipv4')
  } catch {
    return false // ignores an invalid CIDR
  }
  return list.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
