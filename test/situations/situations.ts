import { anotherRequestUnderTheKey } from './plays/another-request-under-the-key.js';
import { answerTooLong } from './plays/answer-too-long.js';
import { clientHangsUp } from './plays/client-hangs-up.js';
import { crashAfterCommit } from './plays/crash-after-commit.js';
import { crashBeforeCommit } from './plays/crash-before-commit.js';
import { deadlock } from './plays/deadlock.js';
import { duplicateInFlight } from './plays/duplicate-in-flight.js';
import { failedValidation } from './plays/failed-validation.js';
import { firstRequest } from './plays/first-request.js';
import { lostClaim } from './plays/lost-claim.js';
import { missingOrBadKey } from './plays/missing-or-bad-key.js';
import { otherOrigins } from './plays/other-origins.js';
import { patientDuplicate } from './plays/patient-duplicate.js';
import { recordedRefusal } from './plays/recorded-refusal.js';
import { releasedFailure } from './plays/released-failure.js';
import { retryAfterTheAnswer } from './plays/retry-after-the-answer.js';
import { rightsCheckedAgain } from './plays/rights-checked-again.js';
import { secretAnswers } from './plays/secret-answers.js';
import { shutdown } from './plays/shutdown.js';
import { somebodyElseAnswers } from './plays/somebody-else-answers.js';
import { storeAway } from './plays/store-away.js';
import { withoutALease } from './plays/without-a-lease.js';
import type { Situation } from './situation.js';

/** In the order of the index. */
export const SITUATIONS: readonly Situation[] = [
  firstRequest,
  retryAfterTheAnswer,
  duplicateInFlight,
  patientDuplicate,
  anotherRequestUnderTheKey,
  missingOrBadKey,
  recordedRefusal,
  releasedFailure,
  failedValidation,
  deadlock,
  crashBeforeCommit,
  crashAfterCommit,
  lostClaim,
  storeAway,
  shutdown,
  answerTooLong,
  secretAnswers,
  somebodyElseAnswers,
  clientHangsUp,
  rightsCheckedAgain,
  withoutALease,
  otherOrigins,
];
