import type { Mutant } from '../mutant.ts'
import { contract } from '../oracles.ts'

const bundle = contract('src/webhooks/certificate-bundle.test.ts')
const review = contract('src/webhooks/conversion-review.test.ts')

export const webhooksMutants: readonly Mutant[] = [
  {
    id: 'webhooks/signs-before-trusted',
    file: 'src/webhooks/certificate-bundle.ts',
    what: 'A new authority signs before the API servers have had time to trust it.',
    from: 'isDue && (isSettled || isOwn)',
    to: 'isDue',
    caughtBy: bundle,
  },
  {
    id: 'webhooks/drops-old-authority',
    file: 'src/webhooks/certificate-bundle.ts',
    what: 'The old authority is not trusted any more once there is a new one.',
    from: 'authorities: [cert, newest, ...trusted]',
    to: 'authorities: [cert]',
    caughtBy: bundle,
  },
  {
    id: 'webhooks/renews-at-the-end',
    file: 'src/webhooks/certificate-bundle.ts',
    what: 'Certificates are renewed when they have expired.',
    from: 'const RENEW_AT = 2 / 3',
    to: 'const RENEW_AT = 3 / 2',
    caughtBy: bundle,
  },
  {
    id: 'webhooks/other-names',
    file: 'src/webhooks/certificate-bundle.ts',
    what: 'A certificate for other names is kept.',
    from: 'isExpired(leaf.cert, now) || !covers(leaf.cert, policy)',
    to: 'isExpired(leaf.cert, now)',
    caughtBy: bundle,
  },
  {
    id: 'webhooks/review-half',
    file: 'src/webhooks/conversion-review.ts',
    what: 'A review with an object that cannot be converted is answered with the others.',
    from: "if (!isTrainingJob(object)) throw new Error('only TrainingJobs of ml.example.com can be converted')",
    to: 'if (!isTrainingJob(object)) return object',
    caughtBy: review,
  },
  {
    id: 'webhooks/review-uid',
    file: 'src/webhooks/conversion-review.ts',
    what: 'The answer to a review does not name its request.',
    from: "typeof request['uid'] === 'string' ? request['uid'] : ''",
    to: "''",
    caughtBy: review,
  },
  {
    id: 'webhooks/review-direction',
    file: 'src/webhooks/conversion-review.ts',
    what: 'A review for v1 is answered in v1alpha1.',
    from: 'if (object.apiVersion === V1ALPHA1 && desired === V1) return toV1(',
    to: 'if (object.apiVersion === V1ALPHA1 && desired === V1) return toV1alpha1(',
    caughtBy: review,
  },
  {
    id: 'webhooks/body-without-end',
    file: 'src/webhooks/review-intake.ts',
    what: 'A body of any size is held in memory.',
    from: 'if (upload.held > this.#limits.bodyBytes) upload.rejectUpload',
    to: 'if (upload.held < 0) upload.refuse',
    caughtBy: contract('src/webhooks/conversion-server.test.ts', 'a body without a declared length'),
  },
  {
    id: 'webhooks/declared-body',
    file: 'src/webhooks/review-intake.ts',
    what: 'A body that is declared too large is read before it is refused.',
    from: "Number(request.headers['content-length'] ?? 0) > bodyBytes",
    to: "Number(request.headers['content-length'] ?? 0) < 0",
    caughtBy: contract('src/webhooks/conversion-server.test.ts', 'a body that is declared too large'),
  },
  {
    id: 'webhooks/any-number-of-reviews',
    file: 'src/webhooks/review-intake.ts',
    what: 'Any number of reviews is held at a time.',
    from: 'this.#uploads.size >= reviews',
    to: 'this.#uploads.size < 0',
    caughtBy: contract('src/webhooks/conversion-server.test.ts', 'limits concurrent reviews'),
  },
  {
    id: 'webhooks/lingering-body',
    file: 'src/webhooks/review-intake.ts',
    what: 'A client that sends slowly keeps others out.',
    from: 'while (this.#held > this.#limits.totalBytes) {',
    to: 'while (this.#held < 0) {',
    caughtBy: contract('src/webhooks/conversion-server.test.ts', 'rejects a slow body'),
  },
]
