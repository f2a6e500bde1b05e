import { checkRow } from '../../common/contracts/guardrails/check-parameters.js';
import type { CheckSpec, HookSpec } from '../../common/contracts/guardrails/hook.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import type { Check, Facts, Finding, Subject } from './check.js';
import type { CheckResult, HookResult } from './hook-results.js';
import { rewriteTexts, type TextTree, textsOf } from './texts/text-tree.js';

/** A guardrail with its checks made. */
export interface Hook {
  readonly spec: HookSpec;
  /** Those that are enabled, in order. */
  readonly checks: readonly MadeCheck[];
}

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
  readonly side: Subject['side'];
  readonly facts: Facts;
  readonly json: Json | null;
  /** Where its texts stand; null where none are known. */
  readonly tree: TextTree | null;
  /** The texts, where there is no body that has them; null where they could not be read. */
  readonly texts: readonly string[] | null;
}

export interface Judgement {
  readonly matter: Matter;
  /** Of the hooks that were waited for. */
  readonly results: readonly HookResult[];
  readonly isDenied: boolean;
  /** One failed that may not deny. */
  readonly hasFailed: boolean;
}

/**
 * Runs hooks in order, each on what the ones before left, until one denies. `later` hears of those that run beside.
 * Never rejects: a check that could not be made is in its result.
 */
export async function runHooks(
  hooks: readonly Hook[],
  first: Matter,
  later: (result: HookResult) => void,
): Promise<Judgement> {
  const results: HookResult[] = [];
  let matter = first;
  for (const hook of hooks) {
    if (hook.spec.isAsync) {
      void runHook(hook, matter).then(({ result }) => later(result));
      continue;
    }
    const run = await runHook(hook, matter);
    matter = run.matter;
    results.push(run.result);
    if (isDenial(run.result)) return { matter, results, isDenied: true, hasFailed: false };
  }
  return { matter, results, isDenied: false, hasFailed: results.some(isFailure) };
}

const isFailure = ({ type, verdict }: HookResult): boolean => type === 'guardrail' && !verdict;

export const isDenial = (result: HookResult): boolean => result.deny && isFailure(result);

interface Ran {
  readonly matter: Matter;
  readonly result: HookResult;
}

async function runHook({ spec, checks }: Hook, first: Matter): Promise<Ran> {
  const startedAt = performance.now();
  const createdAt = new Date().toISOString();
  let matter = first;
  const results: (CheckResult | Promise<CheckResult>)[] = [];
  const take = (check: CheckResult, finding: Finding | null): CheckResult => {
    const changed = finding ? changedBy(matter, finding) : matter;
    const transformed = changed !== matter;
    matter = changed;
    return { ...check, transformed };
  };
  for (const made of checks) {
    const started = startCheck(made, matter, spec);
    if (started instanceof Promise && spec.isSequential)
      results.push(await started.then(({ check, finding }) => take(check, finding)));
    else if (started instanceof Promise)
      results.push(started.then(({ check, finding }) => take(check, finding)));
    else results.push(take(started.check, started.finding));
  }
  const done = await Promise.all(results.map((result) => Promise.resolve(result)));
  const verdict = done.every((check) => check.verdict);
  const result: HookResult = {
    id: spec.id,
    type: spec.type,
    verdict,
    deny: spec.deny,
    async: spec.isAsync,
    transformed: matter !== first,
    checks: done,
    feedback: verdict ? spec.onSuccess : spec.onFail,
    execution_time: elapsed(startedAt),
    created_at: createdAt,
  };
  return { matter, result };
}

interface Checked {
  readonly check: CheckResult;
  readonly finding: Finding | null;
}

function startCheck(made: MadeCheck, matter: Matter, hook: HookSpec): Checked | Promise<Checked> {
  const startedAt = performance.now();
  const created_at = new Date().toISOString();
  const of = (rest: Pick<CheckResult, 'verdict' | 'data' | 'error'>): CheckResult => ({
    id: made.spec.id,
    transformed: false,
    execution_time: elapsed(startedAt),
    created_at,
    ...rest,
  });
  const found = (finding: Finding): Checked => ({
    check: of({ verdict: finding.verdict, data: bounded(finding.data), error: null }),
    finding,
  });
  const failed = (thrown: unknown): Checked => ({
    check: of({ verdict: !failsOnError(made, hook), data: null, error: describe(thrown) }),
    finding: null,
  });
  try {
    const finding = made.check.run(subjectOf(made, matter));
    return finding instanceof Promise ? finding.then(found, failed) : found(finding);
  } catch (thrown) {
    return failed(thrown);
  }
}

function subjectOf(
  { readsTexts: needsTexts }: MadeCheck,
  { side, facts, json, tree, texts }: Matter,
): Subject {
  if (!needsTexts) return { side, facts, json, texts: [] };
  if (texts) return { side, facts, json, texts };
  if (!json || !tree)
    throw new Error(`the texts of this ${side === 'input' ? 'request' : 'answer'} cannot be read`);
  return { side, facts, json, texts: textsOf(json, tree) };
}

function changedBy(matter: Matter, { json, texts }: Finding): Matter {
  if (json) return { ...matter, json };
  if (!texts) return matter;
  if (matter.texts) return { ...matter, texts };
  const { tree } = matter;
  if (!matter.json || !tree) return matter;
  let index = 0;
  return { ...matter, json: rewriteTexts(matter.json, tree, (text) => texts[index++] ?? text) };
}

function failsOnError({ spec: { parameters } }: MadeCheck, { failOnError }: HookSpec): boolean {
  return failOnError || parameters.failOnError === true;
}

/** What a check tells, characters of JSON: it goes into the log with every request. */
const DATA_CHARS_MAX = 4_096;

function bounded(data: Finding['data']): Finding['data'] {
  const { length } = JSON.stringify(data);
  return length <= DATA_CHARS_MAX ? data : { omitted: `it is longer than ${DATA_CHARS_MAX} characters` };
}

const MESSAGE_CHARS_MAX = 256;

/** Our own words where we have some: those of others may quote what must not be told. */
function describe(thrown: unknown): { readonly name: string; readonly message: string } {
  if (thrown instanceof AppError)
    return { name: thrown.code, message: thrown.message.slice(0, MESSAGE_CHARS_MAX) };
  if (!(thrown instanceof Error)) return { name: 'Error', message: 'the check failed' };
  if (thrown.name === 'TimeoutError') return { name: thrown.name, message: 'no answer came in time' };
  if (thrown instanceof SyntaxError) return { name: thrown.name, message: 'the answer is not valid JSON' };
  const isOurs = thrown.name === 'Error' && !('code' in thrown);
  return {
    name: thrown.name,
    message: isOurs ? thrown.message.slice(0, MESSAGE_CHARS_MAX) : 'the check could not be made',
  };
}

const elapsed = (startedAt: number): number => Math.round(performance.now() - startedAt);
