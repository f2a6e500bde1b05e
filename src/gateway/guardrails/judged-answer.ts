import { AppError } from '../../common/errors/app-error.js';
import type { Reading } from '../recording/reading.js';
import { errorReply } from '../translation/error-formats.js';
import type { ResponseHead } from '../upstream/forwarded-headers.js';
import type { PendingAnswer } from './answering.js';
import { denial, type GuardedRequest } from './guard-request.js';
import type { UnreadRefusal } from './run-hooks.js';

const DENIED_STATUS = 446;
const JSON_TYPE = 'application/json; charset=utf-8';

/** A response with its verdict, in the client's dialect. */
export interface JudgedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
  readonly reading: Reading;
  readonly isDenied: boolean;
  /** Id of the guardrail that stopped a stream; absent if a verdict on the whole denied it. */
  readonly stoppedBy?: string | null;
  /** Why it is denied, if its texts could not be read. */
  readonly refusal: UnreadRefusal | null;
  /** Of the provider's own response. */
  readonly head: ResponseHead;
}

/** The denial in place of a response. */
export function withheld(
  answer: JudgedAnswer,
  { results }: GuardedRequest,
  { request, exchangeFacts: { id } }: Pick<PendingAnswer, 'request' | 'exchangeFacts'>,
): JudgedAnswer {
  const { stoppedBy: guardrail } = answer;
  const error = guardrail
    ? new AppError('guardrail_denied', { guardrail, side: 'response' })
    : denial(results, answer.refusal);
  const reply = errorReply(error, request, id);
  const body = { ...reply.body, hook_results: results };
  return {
    ...answer,
    status: DENIED_STATUS,
    contentType: JSON_TYPE,
    body: Buffer.from(JSON.stringify(body)),
    isDenied: true,
  };
}
