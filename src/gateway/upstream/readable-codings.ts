import { canDecode, codingsOf } from '../../common/http/content-coding.js';

/** Cached decisions by the client's value; clients send few different ones. */
const decided = new Map<string, readonly string[]>();
const DECIDED_MAX = 200;

const AS_IT_IS: readonly string[] = [];
/** https://www.rfc-editor.org/rfc/rfc9110#name-quality-values */
const REFUSED = /;\s*q=0(?:\.0*)?$/i;

/**
 * Name and value of an `accept-encoding` without the codings that the gateway cannot decode, if there are any; empty if the client's own
 * can stay. For responses that are read on their way: a response in an unsupported coding could not be charged.
 */
export function readableCodings(accepted: string | undefined): readonly string[] {
  if (accepted === undefined) return AS_IT_IS;
  const known = decided.get(accepted);
  if (known) return known;
  const own = decide(accepted);
  if (decided.size < DECIDED_MAX) decided.set(accepted, own);
  return own;
}

function decide(accepted: string): readonly string[] {
  const codings = accepted.split(',').map((coding) => coding.trim());
  const readable = codings.filter(
    (coding) => REFUSED.test(coding) || codingsOf(nameOf(coding)).every(canDecode),
  );
  if (readable.length === codings.length) return AS_IT_IS;
  const hasChoice = readable.some((coding) => !REFUSED.test(coding));
  return ['accept-encoding', hasChoice ? readable.join(', ') : 'identity'];
}

const nameOf = (coding: string): string => coding.split(';', 1)[0] as string;
