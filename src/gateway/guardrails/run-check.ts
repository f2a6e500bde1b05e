import { checkRow } from '../../routing-config/guardrails/check-parameters.js';
import type { CheckSpec, HookSpec } from '../../routing-config/guardrails/hook.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import type { Check, Facts, Finding, CheckSubject } from './check.js';
import type { CheckResult } from '../types/hook-results.js';
import { type BodyTexts, bodyTexts, NO_TEXTS } from './texts/body-texts.js';
import type { TextTree } from './texts/text-tree.js';

export interface MadeCheck {
  readonly spec: CheckSpec;
  readonly check: Check;
  /** It reads texts, and therefore needs a parsed body. */
  readonly readsTexts: boolean;
}

/** Checks for requests only read the parameters, not texts. */
export function readsTexts({ id }: CheckSpec): boolean {
  const { side, mutates } = checkRow(id);
  return side === 'both' || mutates === true;
}

/** The subject of hooks, which may change it: a body with its texts, or the texts of a stream. */
export interface Matter {
  readonly side: CheckSubject['side'];
  readonly facts: Facts;
  readonly json: Json | null;
  /** The places of its texts; null if the gateway does not read them. */
  readonly tree: TextTree | null;
  /** The texts if there is no body that contains them; null if they could not be read. */
  readonly texts: BodyTexts | null;
}

/** Result of a check, with its finding if it could run. */
export interface CheckOutcome {
  readonly check: CheckResult & { transformed: boolean };
  readonly finding: Finding | null;
}

/** Shared by the checks of a hook. */
interface Setting {
  readonly hook: HookSpec;
  readonly texts: SeenTexts;
}

/** Never throws: a check that could not run reports that in its result. */
export function startCheck(
  made: MadeCheck,
  matter: Matter,
  { hook, texts }: Setting,
): CheckOutcome | Promise<CheckOutcome> {
  const startedAt = performance.now();
  const createdAt = isoNow();
  const failed = (thrown: unknown): CheckOutcome => ({
    check: {
      id: made.spec.id,
      transformed: false,
      execution_time: elapsed(startedAt),
      created_at: createdAt,
      verdict: !failsOnError(made, hook) && !failsUnread(thrown, hook),
      data: null,
      error: describe(thrown),
    },
    finding: null,
  });
  try {
    const finding = made.check.run(subjectOf(made, matter, texts));
    if (!(finding instanceof Promise)) return checked(made, finding, { startedAt, createdAt });
    return finding.then((found) => checked(made, found, { startedAt, createdAt }), failed);
  } catch (thrown) {
    return failed(thrown);
  }
}

interface Began {
  readonly startedAt: number;
  readonly createdAt: string;
}

function checked({ spec }: MadeCheck, finding: Finding, { startedAt, createdAt }: Began): CheckOutcome {
  return {
    check: {
      id: spec.id,
      transformed: false,
      execution_time: elapsed(startedAt),
      created_at: createdAt,
      verdict: finding.verdict,
      data: bounded(finding.data),
      error: null,
    },
    finding,
  };
}

/** The texts of a body, found once for all checks until one changes it. */
export class SeenTexts {
  private json: Json | null = null;
  private texts: BodyTexts = NO_TEXTS;

  of(json: Json, tree: TextTree): BodyTexts {
    if (json !== this.json) {
      this.texts = bodyTexts(json, tree);
      this.json = json;
    }
    return this.texts;
  }
}

function subjectOf(
  { readsTexts: needsTexts, check: { looksEverywhere } }: MadeCheck,
  { side, facts, json, tree, texts }: Matter,
  seen: SeenTexts,
): CheckSubject {
  if (!needsTexts) return { side, facts, json, texts: NO_TEXTS.said };
  const read = texts ?? (json && tree && seen.of(json, tree));
  if (!read) throw new Unreadable(side, tree !== null);
  return { side, facts, json, texts: looksEverywhere ? read.every : read.said };
}

/** The texts that a check needs cannot be read. */
class Unreadable extends Error {
  constructor(
    side: CheckSubject['side'],
    /** The gateway reads the texts of this endpoint, so the body is at fault. */
    readonly isOfKnownEndpoint: boolean,
  ) {
    super(`the texts of this ${side === 'input' ? 'request' : 'response'} cannot be read`);
  }
}

/** A guardrail that may deny lets no text pass that it should have read but could not. */
function failsUnread(thrown: unknown, { deny, type }: HookSpec): boolean {
  return thrown instanceof Unreadable && thrown.isOfKnownEndpoint && deny && type === 'guardrail';
}

function failsOnError({ spec: { parameters } }: MadeCheck, { failOnError }: HookSpec): boolean {
  return failOnError || parameters.failOnError === true;
}

/** Maximum data of a check, in characters of JSON: it is logged with every request. */
const DATA_CHARS_MAX = 4_096;

function bounded(data: Finding['data']): Finding['data'] {
  if (charsMax(data, 0) <= DATA_CHARS_MAX) return data;
  const { length } = JSON.stringify(data);
  return length <= DATA_CHARS_MAX ? data : { omitted: `it is longer than ${DATA_CHARS_MAX} characters` };
}

/** The longest escape, `\u0000`; the longest value that is not text, a number or a date. */
const ESCAPED_CHARS = 6;
const PLAIN_CHARS = 32;
const LOOKED_INTO = 3;

/** An upper bound of the JSON length of a check's data. Usually small, and cheaper than writing the JSON to measure it. */
function charsMax(value: unknown, depth: number): number {
  if (typeof value === 'string') return ESCAPED_CHARS * value.length + 2;
  if (typeof value !== 'object' || value === null) return PLAIN_CHARS;
  if (depth > LOOKED_INTO) return Infinity;
  let chars = PLAIN_CHARS;
  for (const name in value) {
    chars += ESCAPED_CHARS * name.length + 4 + charsMax((value as Json)[name], depth + 1);
    if (chars > DATA_CHARS_MAX) return chars;
  }
  return chars;
}

const MESSAGE_CHARS_MAX = 256;

/** Our own message if there is one: other messages may quote confidential text. */
function describe(thrown: unknown): { readonly name: string; readonly message: string } {
  if (thrown instanceof AppError)
    return { name: thrown.code, message: thrown.message.slice(0, MESSAGE_CHARS_MAX) };
  if (!(thrown instanceof Error)) return { name: 'Error', message: 'the check failed' };
  if (thrown.name === 'TimeoutError') return { name: thrown.name, message: 'no response came in time' };
  if (thrown instanceof SyntaxError) return { name: thrown.name, message: 'the response is not valid JSON' };
  const isOurs = thrown.name === 'Error' && !('code' in thrown);
  return {
    name: thrown.name,
    message: isOurs ? thrown.message.slice(0, MESSAGE_CHARS_MAX) : 'the check could not be made',
  };
}

let writtenMs = 0;
let written = '';

/** Formatted once per millisecond, because many checks may begin in one. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== writtenMs) {
    writtenMs = now;
    written = new Date(now).toISOString();
  }
  return written;
}

/** Whole milliseconds since `performance.now()` was `startedAt`. */
export const elapsed = (startedAt: number): number => Math.round(performance.now() - startedAt);
