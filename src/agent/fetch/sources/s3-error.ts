/** Translates errors of the S3 SDK. */
import type { FetchFailureReason } from '../../../api/fetch-failure.ts'
import { ChangedError, codeOf, FetchError, TransientError } from '../error.ts'
import { type Advice, statusError } from './http-answer.ts'

const ADVICE: Advice = {
  denied:
    'allow s3:GetObject and s3:ListBucket to the identity of the pod (its service account, or the keys in its Secret); ' +
    'without s3:ListBucket, S3 also answers so for missing objects',
  missing: 'check the bucket and AWS_ENDPOINT_URL',
}

/** Reason and advice of errors with a known name. */
const NAMED: Readonly<Record<string, readonly [FetchFailureReason, string]>> = {
  AccessDenied: ['AccessDenied', ADVICE.denied],
  CredentialsProviderError: ['AccessDenied', `the pod has no credentials: ${ADVICE.denied}`],
  ExpiredToken: ['AccessDenied', 'the credentials have expired: renew them'],
  InvalidAccessKeyId: ['AccessDenied', 'the server does not know the access key: correct it in the Secret'],
  // The name of the same error in versitygw.
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

/** True for a missing key, not for a missing bucket, which has its own message. */
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
  if (codeOf(error) === 'ERR_INVALID_URL') return new FetchError('Invalid', `${shown}: AWS_ENDPOINT_URL is not a URL`)
  return new TransientError(`${shown}: ${message}`, { cause: error })
}
