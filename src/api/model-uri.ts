/** The forms of a model's location by scheme. A wrong form would fail only in the pod, after it has a node. */

import { cel, type Rule } from './schema.ts'

/** `registry/repository`, then a tag, a digest or both, then the path in the image. */
const IMAGE_URI =
  '^oci://[a-z0-9][-.a-z0-9]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+(:[A-Za-z0-9_][-.A-Za-z0-9_]*)?' +
  '(@sha256:[0-9a-f]{64})?([?]path=/[^\\\\s?#]*)?$'

/** `field` is the path that the error message names. */
export const modelUriRules = (field: string): readonly Rule[] => [
  cel(
    `!self.matches('^(s3|gs|az)://') || self.matches('^[a-z0-9]+://[^/?#@:\\\\s]+(/|$)')`,
    `${field} must begin with the name of a bucket or container, without a port, user or query: write s3://bucket/path, and set another server in storage.secretName`,
  ),
  cel(
    `!self.startsWith('hf://') || self.matches('^hf://[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(:[A-Za-z0-9_./-]+)?$')`,
    `${field} must have the form hf://owner/model or hf://owner/model:revision: write for example hf://Qwen/Qwen3-8B`,
  ),
  cel(
    `!self.startsWith('pvc://') || self.matches('^pvc://[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/|$)')`,
    `${field} must name a PersistentVolumeClaim of this namespace, in lower case: write pvc://claim/path`,
  ),
  cel(
    `!self.startsWith('oci:') || self.matches('${IMAGE_URI}')`,
    `${field} with oci:// must be an image with a registry, and may end with ?path= and an absolute path in the image: write for example oci://registry.example.com/models/bert:v1 or oci://registry.example.com/models/bert:v1?path=/models`,
  ),
]
