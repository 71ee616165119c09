/** An image that the operator starts pods with, if an object names no other. */
export interface ImageUse {
  readonly image: string
  readonly purpose: string
}
