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
  /** It looks at texts, and so at a body that was read. */
  readonly readsTexts: boolean;
}

/** Checks of requests alone look at what is asked for, not at texts. */
export function readsTexts({ id }: CheckSpec): boolean {
  const { side, mutates } = checkRow(id);
  return side === 'both' || mutates === true;
}

/** What hooks look at and may change: a body with its texts, or the texts of a stream. */
export interface Matter {
  readonly side: CheckSubject['side'];
  readonly facts: Facts;
  readonly json: Json | null;
  /** Where its texts stand; null where the gateway does not read them. */
  readonly tree: TextTree | null;
  /** The texts, where there is no body that has them; null where they could not be read. */
  readonly texts: BodyTexts | null;
}

/** What a check has said, and what it found where it could be made. */
export interface CheckOutcome {
  readonly check: CheckResult & { transformed: boolean };
  readonly finding: Finding | null;
}

/** What checks of a hook share. */
interface Setting {
  readonly hook: HookSpec;
  readonly texts: SeenTexts;
}

/** Never throws: a check that could not be made is in its result. */
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

/** The texts of a body, found once for all checks that look at it before one changes it. */
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

/** The texts that a check would look at cannot be read. */
class Unreadable extends Error {
  constructor(
    side: CheckSubject['side'],
    /** The gateway reads those of the endpoint, so that it is this body's own doing. */
    readonly isOfKnownEndpoint: boolean,
  ) {
    super(`the texts of this ${side === 'input' ? 'request' : 'response'} cannot be read`);
  }
}

/** A guardrail that may deny lets nothing pass that it should have read and could not. */
function failsUnread(thrown: unknown, { deny, type }: HookSpec): boolean {
  return thrown instanceof Unreadable && thrown.isOfKnownEndpoint && deny && type === 'guardrail';
}

function failsOnError({ spec: { parameters } }: MadeCheck, { failOnError }: HookSpec): boolean {
  return failOnError || parameters.failOnError === true;
}

/** What a check tells, characters of JSON: it goes into the log with every request. */
const DATA_CHARS_MAX = 4_096;

function bounded(data: Finding['data']): Finding['data'] {
  if (charsMax(data, 0) <= DATA_CHARS_MAX) return data;
  const { length } = JSON.stringify(data);
  return length <= DATA_CHARS_MAX ? data : { omitted: `it is longer than ${DATA_CHARS_MAX} characters` };
}

/** The longest escape, `\u0000`; the longest of what is no text, a number or a moment. */
const ESCAPED_CHARS = 6;
const PLAIN_CHARS = 32;
const LOOKED_INTO = 3;

/** An upper bound of the JSON of what checks tell, which is mostly short: writing it out to measure it costs more. */
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

/** Our own words where we have some: those of others may quote what must not be told. */
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

/** Written once per millisecond, in which many checks may begin. */
export function isoNow(): string {
  const now = Date.now();
  if (now !== writtenMs) {
    writtenMs = now;
    written = new Date(now).toISOString();
  }
  return written;
}

/** Since `performance.now()` was `startedAt`, whole milliseconds. */
export const elapsed = (startedAt: number): number => Math.round(performance.now() - startedAt);
