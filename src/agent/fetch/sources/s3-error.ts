/** Errors of the SDK for S3, in the words of a fetch. */
import type { FetchFailureReason } from '../../../api/fetch-failure.ts'
import { ChangedError, codeOf, FetchError, TransientError } from '../error.ts'
import { type Advice, statusError } from './http-answer.ts'

const ADVICE: Advice = {
  denied:
    'allow s3:GetObject and s3:ListBucket to the identity of the pod (its service account, or the keys in its Secret); ' +
    'without s3:ListBucket, S3 also says this of what is not there',
  missing: 'is the bucket right, and AWS_ENDPOINT_URL?',
}

/** Errors that have a name of their own, with what to say of them. */
const NAMED: Readonly<Record<string, readonly [FetchFailureReason, string]>> = {
  AccessDenied: ['AccessDenied', ADVICE.denied],
  CredentialsProviderError: ['AccessDenied', `the pod has no credentials: ${ADVICE.denied}`],
  ExpiredToken: ['AccessDenied', 'the credentials have expired: renew them'],
  InvalidAccessKeyId: ['AccessDenied', 'the server does not know the access key: correct it in the Secret'],
  // Said by versitygw of the same.
  XAdminUserNotFound: ['AccessDenied', 'the server does not know the access key: correct it in the Secret'],
  SignatureDoesNotMatch: ['AccessDenied', 'the secret key does not belong to the access key: correct it in the Secret'],
  NoSuchBucket: ['ArtifactNotFound', ADVICE.missing],
  PermanentRedirect: ['Invalid', 'the bucket is in another region: set AWS_REGION to it'],
  AuthorizationHeaderMalformed: ['Invalid', 'the bucket is in another region: set AWS_REGION to it'],
}

interface SdkError {
  readonly name?: string
  readonly message?: string
  readonly $metadata?: { readonly httpStatusCode?: number }
}

/** True of a key, not of a bucket: a bucket that is not there is worth other words. */
export function isMissing(error: unknown): boolean {
  const { name, $metadata } = error as SdkError
  return $metadata?.httpStatusCode === 404 && name !== 'NoSuchBucket'
}

export function s3Error(error: unknown, shown: string): Error {
  if (error instanceof FetchError || error instanceof ChangedError) return error
  const { name = '', message = String(error), $metadata } = error as SdkError
  const status = $metadata?.httpStatusCode
  const [reason, advice] = NAMED[name] ?? []
  if (reason !== undefined) return new FetchError(reason, `${shown}: ${name}; ${advice}`, { cause: error })
  if (status !== undefined && status >= 300) return statusError(status, `${shown} (${name})`, ADVICE)
  if (codeOf(error) === 'ERR_INVALID_URL') return new FetchError('Invalid', `${shown}: AWS_ENDPOINT_URL is no URL`)
  return new TransientError(`${shown}: ${message}`, { cause: error })
}
