import type { Usage } from '../../common/contracts/usage.js';
import type { ChargeRule } from '../../providers/charging/charge.js';
import { type Estimate, estimateOf, isInestimable } from '../types/estimate.js';
import type { PriceBook } from '../ports.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import { type AttemptTrail, modelOf } from '../types/attempt-trail.js';
import { chargeAt, type ExchangeFacts } from '../types/exchange-facts.js';
import type { Target } from '../types/target.js';
import { priceOfTarget } from './applied-price.js';
import { believed, type Reading, UNREAD } from './reading.js';

/** The exchange of a try, and the prices of this moment. */
export interface ChargedExchange {
  readonly facts: Pick<ExchangeFacts, 'endpoint' | 'method' | 'path'>;
  /** Of the request's body. */
  readonly bodyBytes: number;
  readonly prices: PriceBook;
  /** Output tokens assumed for a request that sets no maximum itself. */
  readonly outputCeiling: number;
}

/** A try that ended, with the request as its target received it. */
interface EndedTry {
  readonly tried: RecordedTry;
  readonly target: Target;
  readonly trail: AttemptTrail;
  /** Its maximum usage; null if no limit reserved it. */
  readonly estimate: Estimate | null;
  readonly reading: Reading;
  /** Its provider was working when it was cancelled. */
  readonly isCutOff?: boolean | undefined;
}

/**
 * The usage of a billed response that reported none: exact units of the request, such as characters and images; else its text, which is
 * counted when the record is stored; else its reservation. Without a limit, that is what a limit would have reserved, so that a charge does
 * not depend on who watches it.
 */
export function withUnreported(exchange: ChargedExchange, ended: EndedTry): Reading {
  const { tried, target, isCutOff = false } = ended;
  const reading = believed(ended.reading);
  const isUnanswered = isCutOff && isBegun(tried);
  if (reading.usage !== null || reading.hasFailed || !(isUnanswered || isBilled(tried))) return reading;
  const charge = chargeAt(exchange.facts, target);
  return typeof charge === 'string'
    ? reading
    : assumed(exchange, { ...ended, charge, isUnanswered }, reading);
}

interface Assumption extends EndedTry {
  readonly charge: ChargeRule;
  /** It was cut off before a response began, so that at least its input is charged. */
  readonly isUnanswered: boolean;
}

function assumed(exchange: ChargedExchange, assumption: Assumption, reading: Reading): Reading {
  const { estimate: reserved, charge } = assumption;
  const isText = isCountable(exchange, assumption, reading);
  if (isText && !reserved && !charge.isExact) return { ...reading, isInputCounted: true };
  const estimate = reserved ?? reservationFor(exchange, assumption);
  const usage = estimate?.usage;
  if (usage && isUnits(usage)) return { ...reading, usage, isAssumed: true, assumed: estimate };
  if (isText) return { ...reading, isInputCounted: true };
  return usage ? { ...reading, usage, isAssumed: true, assumed: estimate } : reading;
}

/** A provider bills for a response with a success status, and for work that it had begun when the attempt timed out. */
const isBilled = ({ status, isReplayed, wasSent, hasTimedOut }: RecordedTry): boolean =>
  wasSent && !isReplayed && ((status >= 200 && status < 300) || (hasTimedOut && status === 0));

/** It was sent, and its provider has neither responded nor exceeded a timeout. */
const isBegun = ({ status, isReplayed, wasSent, hasTimedOut }: RecordedTry): boolean =>
  wasSent && !isReplayed && !hasTimedOut && status === 0;

const isUnits = ({ input_tokens, output_tokens }: Usage): boolean => input_tokens + output_tokens === 0;

const hasInputText = ({ facts: { endpoint } }: ChargedExchange, { body }: AttemptTrail): boolean =>
  body !== null && (endpoint?.usage?.inputText(body) ?? '') !== '';

/** Without a response, only the input counts. */
const isCountable = (exchange: ChargedExchange, assumption: Assumption, reading: Reading): boolean =>
  assumption.isUnanswered
    ? hasInputText(exchange, assumption.trail)
    : isAnswerCountable(exchange, assumption, reading);

/** Only for a response that was read: an unread one may contain any amount of text. */
function isAnswerCountable(
  { facts: { endpoint } }: ChargedExchange,
  { tried, trail: { body }, charge }: Assumption,
  reading: Reading,
): boolean {
  if (!endpoint?.usage || !body || reading === UNREAD) return false;
  switch (charge.unreported(body)) {
    case 'text':
      // A complete response without text was not parsed: it may be too large to read.
      return reading.outputText !== '' || (tried.wasLeft && !tried.isWhole);
    case 'input':
      return endpoint.usage.inputText(body) !== '';
    case 'reservation':
      return false;
  }
}

/** The amount that a limit would have reserved; null if the request was not read, such as a form that streams through. */
function reservationFor(
  { bodyBytes, prices, outputCeiling }: ChargedExchange,
  { target, trail, charge }: Assumption,
): Estimate | null {
  const body = trail.body ?? trail.fields;
  if (!body) return null;
  const estimate = estimateOf({
    charge,
    name: '',
    body,
    unreadable: null,
    bodyBytes,
    price: priceOfTarget(prices, target, modelOf(trail)),
    outputCeiling,
  });
  return isInestimable(estimate) ? null : estimate;
}
