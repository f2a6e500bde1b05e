import { mapMaybePromise } from '../../common/maybe-promise.js';
import { checkRow } from '../../routing-config/guardrails/check-parameters.js';
import type { CheckSpec, HookSpec } from '../../routing-config/guardrails/hook.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import type { Check, Facts, Finding, CheckSubject } from './check.js';
import type { CheckResult } from '../types/hook-results.js';
import { bodyTexts, NO_TEXTS, type ReadTexts } from './texts/body-texts.js';
import type { TextTree } from './texts/text-tree.js';
import { unread, type UnreadContent, unreadInWords, unreadRow } from './texts/unread.js';

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
  /** The texts if no body contains them, or why they cannot be read; null if they are to be read from the body. */
  readonly texts: ReadTexts | null;
}

/** Result of a check, with its finding if it could run. */
export interface CheckOutcome {
  readonly check: CheckResult & { transformed: boolean };
  readonly finding: Finding | null;
  /** Why the check could not read the texts; null if it could. */
  readonly unread: UnreadContent | null;
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
  const began = { startedAt: performance.now(), createdAt: isoNow() };
  const passesOnError = !failsOnError(made, hook);
  const failed = (thrown: unknown): CheckOutcome => ({
    check: { ...resultOf(made, began, passesOnError), error: describe(thrown) },
    finding: null,
    unread: null,
  });
  try {
    const subject = subjectOf(made, matter, texts);
    if ('unread' in subject) return unreadOutcome(made, subject, { began, passesOnError });
    const finding = made.check.run(subject);
    return mapMaybePromise(finding, (known) => checked(made, known, began), failed);
  } catch (thrown) {
    return failed(thrown);
  }
}

/** A check without the texts that it needs has no verdict to give, so it does not pass. */
function unreadOutcome(
  made: MadeCheck,
  content: UnreadContent,
  { began, passesOnError }: { readonly began: Began; readonly passesOnError: boolean },
): CheckOutcome {
  const { isByDesign = false } = unreadRow(content.unread);
  const error = { name: 'Unread', message: unreadInWords(content) };
  const data = { unread: content.unread };
  return {
    check: { ...resultOf(made, began, isByDesign && passesOnError), data, error },
    finding: null,
    unread: content,
  };
}

interface Began {
  readonly startedAt: number;
  readonly createdAt: string;
}

function checked(made: MadeCheck, finding: Finding, began: Began): CheckOutcome {
  const result = resultOf(made, began, finding.verdict);
  return { check: { ...result, data: bounded(finding.data) }, finding, unread: null };
}

function resultOf({ spec }: MadeCheck, { startedAt, createdAt }: Began, verdict: boolean) {
  return {
    id: spec.id,
    transformed: false,
    execution_time: elapsed(startedAt),
    created_at: createdAt,
    verdict,
    data: null,
    error: null,
  };
}

/** The texts of a body, found once for all checks until one changes it. */
export class SeenTexts {
  private json: Json | null = null;
  private texts: ReadTexts = NO_TEXTS;

  of(json: Json, tree: TextTree): ReadTexts {
    if (json !== this.json) {
      this.texts = bodyTexts(json, tree);
      this.json = json;
    }
    return this.texts;
  }
}

function subjectOf(
  { readsTexts: needsTexts, check: { looksEverywhere, ignoresTexts } }: MadeCheck,
  matter: Matter,
  seen: SeenTexts,
): CheckSubject | UnreadContent {
  const { side, facts, json, tree } = matter;
  if (!needsTexts || (ignoresTexts && json && tree)) return { side, facts, json, texts: [], runs: [] };
  const read = textsOf(matter, seen);
  if (read.unread) return read;
  const { ownTexts, every, runs = [] } = read;
  return { side, facts, json, texts: looksEverywhere ? every : ownTexts, runs: looksEverywhere ? runs : [] };
}

function textsOf({ json, tree, texts }: Matter, seen: SeenTexts): ReadTexts {
  if (texts) return texts;
  if (tree === null) return unread('endpoint');
  return json ? seen.of(json, tree) : unread('format');
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
