/** How to reach an API server and with which identity: the result of every source of configuration. */

/** Proof of the client's identity. */
export interface Credential {
  readonly token?: string
  /** PEM; always together with `key`. */
  readonly cert?: string
  readonly key?: string
  /** PEM bundle to trust, if it comes from a file that is rotated. Takes precedence over the configuration's. */
  readonly ca?: string
}

/**
 * Returns the credential to use now. Called for every request, so it answers from memory if it can. `rejected` is a
 * credential that the server has just answered with 401: the source returns a newer one if there is one, else the same
 * object again.
 */
export type CredentialSource = (rejected?: Credential) => Promise<Credential>

export interface ClientConfig {
  /** Base URL of the API server, such as `https://10.0.0.1:443` or `https://proxy/k8s/clusters/c-1`. */
  readonly server: string
  /** The namespace of the context, or of this pod. */
  readonly namespace: string
  readonly credentials: CredentialSource
  /** PEM bundle to trust instead of the system's certificates. */
  readonly ca?: string
  /** Name to expect in the server's certificate if it differs from the host of the URL. */
  readonly tlsServerName?: string
  readonly insecureSkipTlsVerify?: boolean
  readonly proxyUrl?: string
}

/** A source whose credential never changes. */
export function fixedCredential(credential: Credential): CredentialSource {
  return () => Promise.resolve(credential)
}
