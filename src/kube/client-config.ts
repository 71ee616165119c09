/** How to reach one API server and who to be there: what every source of configuration comes down to. */

/** What is presented to prove who we are. */
export interface Credential {
  readonly token?: string
  /** PEM; always together with `key`. */
  readonly cert?: string
  readonly key?: string
}

/**
 * Gives the credential to use now; called for every request, so it answers from memory whenever it can.
 * `rejected` is one the server has just answered with 401: the source gives a newer one if it can find any,
 * and otherwise the same object again.
 */
export type CredentialSource = (rejected?: Credential) => Promise<Credential>

export interface ClientConfig {
  /** Base URL of the API server, such as `https://10.0.0.1:443` or `https://proxy/k8s/clusters/c-1`. */
  readonly server: string
  /** The namespace of the context, or of our own pod. */
  readonly namespace: string
  readonly credentials: CredentialSource
  /** PEM bundle to trust instead of the system's. */
  readonly ca?: string
  /** Name to expect in the server's certificate, where it differs from the URL's. */
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly proxyUrl?: string
}

/** A source that never changes. */
export function fixedCredential(credential: Credential): CredentialSource {
  return () => Promise.resolve(credential)
}
