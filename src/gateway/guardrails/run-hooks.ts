import { isPromise } from '../../common/maybe-promise.js';
import type { HookSpec } from '../../routing-config/guardrails/hook.js';
import type { Finding } from './check.js';
import type { CheckResult, HookResult } from '../types/hook-results.js';
import {
  type CheckOutcome,
  elapsed,
  isoNow,
  type MadeCheck,
  type Matter,
  SeenTexts,
  startCheck,
} from './run-check.js';
import { type BodyTexts, withTexts } from './texts/body-texts.js';
import { type UnreadContent, unreadRow } from './texts/unread.js';

export { type Matter, readsTexts } from './run-check.js';

/** A guardrail with its checks built. */
export interface Hook {
  readonly spec: HookSpec;
  /** The enabled ones, in order. */
  readonly checks: readonly MadeCheck[];
  /** The organization or the workspace requires it. */
  readonly isImposed?: boolean;
}

/** A guardrail that cannot read what it must read. */
export interface UnreadRefusal {
  /** Id of the guardrail. */
  readonly guardrail: string;
  readonly content: UnreadContent;
}

export interface Judgement {
  readonly matter: Matter;
  /** Results of the hooks that were awaited. */
  readonly results: readonly HookResult[];
  readonly isDenied: boolean;
  /** Why it is denied, if the texts could not be read. */
  readonly refusal: UnreadRefusal | null;
  /** A hook without the right to deny failed. */
  readonly hasFailed: boolean;
}

/**
 * Runs hooks in order, each on the output of those before it, until one denies. `later` receives the results of asynchronous ones. Returns
 * without a promise when no check has to be awaited. A check that could not run reports that in its result.
 */
export function runHooks(
  hooks: readonly Hook[],
  first: Matter,
  later: (result: HookResult) => void,
): Judgement | Promise<Judgement> {
  return new HookRun(hooks, first, later).from(0);
}

class HookRun {
  private readonly results: HookResult[] = [];
  private readonly texts = new SeenTexts();
  private refusal: UnreadRefusal | null = null;

  constructor(
    private readonly hooks: readonly Hook[],
    private matter: Matter,
    private readonly later: (result: HookResult) => void,
  ) {}

  /** Continues with the hook at this index. */
  from(place: number): Judgement | Promise<Judgement> {
    for (let at = place; at < this.hooks.length; at++) {
      const hook = this.hooks[at] as Hook;
      if (hook.spec.isAsync) {
        void this.beside(hook);
        continue;
      }
      const run = new HookExecution(hook, this.matter, this.texts).from(0);
      if (isPromise(run))
        return run.then((ran) => (this.isDeniedBy(hook, ran) ? this.judgement(true) : this.from(at + 1)));
      if (this.isDeniedBy(hook, run)) return this.judgement(true);
    }
    return this.judgement(false);
  }

  private async beside(hook: Hook): Promise<void> {
    const { result } = await new HookExecution(hook, this.matter, this.texts).from(0);
    this.later(result);
  }

  private isDeniedBy(hook: Hook, { matter, result, unread }: Ran): boolean {
    this.matter = matter;
    this.results.push(result);
    if (unread && refusesUnread(hook, unread)) this.refusal = { guardrail: hook.spec.id, content: unread };
    return this.refusal !== null || isDenial(result);
  }

  private judgement(isDenied: boolean): Judgement {
    const { matter, results, refusal } = this;
    return { matter, results, isDenied, refusal, hasFailed: !isDenied && results.some(isFailure) };
  }
}

const isFailure = ({ type, verdict }: HookResult): boolean => type === 'guardrail' && !verdict;

/**
 * The one place that decides about unread content: a hook that denies, that changes texts, or that its caller cannot disable refuses it. One
 * that only records, and an asynchronous one, note that they could not read it.
 */
export function refusesUnread(hook: Hook, content: UnreadContent): boolean {
  return !unreadRow(content.unread).isByDesign && needsReading(hook);
}

/** Whether what this hook cannot read is refused. */
export function needsReading({ spec, checks, isImposed = false }: Hook): boolean {
  if (spec.isAsync) return false;
  if (checks.some(({ check }) => check.changes)) return true;
  const isStrict = spec.type === 'mutator' || spec.deny || isImposed;
  return isStrict && checks.some(judgesTexts);
}

const judgesTexts = ({ spec, check, readsTexts: reads }: MadeCheck): boolean =>
  reads && check.ignoresTexts !== true && spec.id !== 'default.log';

export const isDenial = (result: HookResult): boolean => result.deny && isFailure(result);

interface Ran {
  readonly matter: Matter;
  readonly result: HookResult;
  /** Of the first check that could not read the texts. */
  readonly unread: UnreadContent | null;
}

/** One run of a hook. */
class HookExecution {
  private readonly startedAt = performance.now();
  private readonly createdAt = isoNow();
  private matter: Matter;
  private readonly results: (CheckResult | Promise<CheckResult>)[] = [];
  private isWaiting = false;
  private unread: UnreadContent | null = null;

  constructor(
    private readonly hook: Hook,
    private readonly first: Matter,
    private readonly texts: SeenTexts,
  ) {
    this.matter = first;
  }

  /** Continues with the check at this index. */
  from(place: number): Ran | Promise<Ran> {
    const { checks, spec } = this.hook;
    for (let at = place; at < checks.length; at++) {
      const started = startCheck(checks[at] as MadeCheck, this.matter, { hook: spec, texts: this.texts });
      if (!isPromise(started)) this.results.push(this.take(started));
      else if (spec.isSequential)
        return started.then((checked) => {
          this.results.push(this.take(checked));
          return this.from(at + 1);
        });
      else {
        this.isWaiting = true;
        this.results.push(started.then((checked) => this.take(checked)));
      }
    }
    if (!this.isWaiting) return this.ran(this.results as readonly CheckResult[]);
    return Promise.all(this.results.map((result) => Promise.resolve(result))).then((done) => this.ran(done));
  }

  private take({ check, finding, unread }: CheckOutcome): CheckResult {
    this.unread ??= unread;
    if (finding) {
      const changed = changedBy(this.matter, finding);
      check.transformed = changed !== this.matter;
      this.matter = changed;
    }
    return check;
  }

  private ran(checks: readonly CheckResult[]): Ran {
    const { matter, first, createdAt, startedAt } = this;
    const { id, type, deny, isAsync, onSuccess, onFail } = this.hook.spec;
    const verdict = checks.every((check) => check.verdict);
    const result: HookResult = {
      id,
      type,
      verdict,
      deny,
      async: isAsync,
      transformed: matter !== first,
      checks,
      feedback: verdict ? onSuccess : onFail,
      execution_time: elapsed(startedAt),
      created_at: createdAt,
    };
    return { matter, result, unread: this.unread };
  }
}

function changedBy(matter: Matter, { json, texts }: Finding): Matter {
  if (json) return { ...matter, json };
  if (!texts) return matter;
  if (matter.texts?.unread) return matter;
  if (matter.texts) return { ...matter, texts: changedTexts(matter.texts, texts) };
  const { tree, json: body } = matter;
  return body && tree ? { ...matter, json: withTexts(body, tree, texts) } : matter;
}

/** A check that looks everywhere changes `every`. In a plain text, that is also all of `said`. */
function changedTexts({ ownTexts, every }: BodyTexts, changed: readonly string[]): BodyTexts {
  return { ownTexts: ownTexts === every ? changed : ownTexts, every: changed };
}
