/** Translates errors of the S3 SDK. */
import type { FetchFailureReason } from '../../api/fetch-failure.ts'
import { ChangedError, codeOf, TransferError, TransientError } from '../transfer/error.ts'
import { type Advice, statusError } from './http-answer.ts'
import type { Access } from './object-store.ts'

const PERMISSIONS: Readonly<Record<Access, string>> = {
  read: 's3:GetObject and s3:ListBucket',
  write: 's3:GetObject, s3:PutObject, s3:DeleteObject and s3:ListBucket',
}

function adviceFor(access: Access): Advice {
  return {
    denied:
      `allow ${PERMISSIONS[access]} to the identity of the pod (its service account, or the keys in its Secret); ` +
      'without s3:ListBucket, S3 also answers so for missing objects',
    missing: 'check the bucket and AWS_ENDPOINT_URL',
  }
}

/** Reason and advice of errors with a known name. */
function named({ denied, missing }: Advice): Readonly<Record<string, readonly [FetchFailureReason, string]>> {
  return {
    AccessDenied: ['AccessDenied', denied],
    CredentialsProviderError: ['AccessDenied', `the pod has no credentials: ${denied}`],
    ExpiredToken: ['AccessDenied', 'the credentials have expired: renew them'],
    InvalidAccessKeyId: ['AccessDenied', 'the server does not know the access key: correct it in the Secret'],
    // The name of the same error in versitygw.
    XAdminUserNotFound: ['AccessDenied', 'the server does not know the access key: correct it in the Secret'],
    SignatureDoesNotMatch: [
      'AccessDenied',
      'the secret key does not belong to the access key: correct it in the Secret',
    ],
    NoSuchBucket: ['ArtifactNotFound', missing],
    PermanentRedirect: ['Invalid', 'the bucket is in another region: set AWS_REGION to it'],
    AuthorizationHeaderMalformed: ['Invalid', 'the bucket is in another region: set AWS_REGION to it'],
  }
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

export function s3Error(error: unknown, shown: string, access: Access = 'read'): Error {
  if (error instanceof TransferError || error instanceof ChangedError) return error
  const { name = '', message = String(error), $metadata } = error as SdkError
  const status = $metadata?.httpStatusCode
  const advice = adviceFor(access)
  const [reason, fix] = named(advice)[name] ?? []
  if (reason !== undefined) return new TransferError(reason, `${shown}: ${name}; ${fix}`, { cause: error })
  if (status !== undefined && status >= 300) return statusError(status, `${shown} (${name})`, advice)
  if (codeOf(error) === 'ERR_INVALID_URL')
    return new TransferError('Invalid', `${shown}: AWS_ENDPOINT_URL is not a URL`)
  return new TransientError(`${shown}: ${message}`, { cause: error })
}
