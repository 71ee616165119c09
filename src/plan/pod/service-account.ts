/** The identity of a pod towards the API server and registries. */

interface Account {
  readonly serviceAccountName?: string
  readonly imagePullSecrets?: readonly { readonly name: string }[]
}

/** The fields of a PodSpec. Without an account of its own a pod gets no token: it has no need to call the API server. */
export function serviceAccountOf({ serviceAccountName, imagePullSecrets }: Account): object {
  return {
    ...(serviceAccountName === undefined ? { automountServiceAccountToken: false } : { serviceAccountName }),
    ...(imagePullSecrets && { imagePullSecrets: [...imagePullSecrets] }),
  }
}
