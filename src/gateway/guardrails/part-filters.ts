import type { Facts, TextFilter } from './check.js';
import { PLACEHOLDER, PLACEHOLDER_CHARS_MAX } from './finding/placeholders.js';
import { type Detector, Scanner } from './finding/scanner.js';
import type { Hook } from './run-hooks.js';

/** Placeholders are found like any other match, so that one that a stream splits is reassembled. */
const PLACEHOLDERS: Detector = {
  kind: 'PLACEHOLDER',
  pattern: PLACEHOLDER,
  charsMax: PLACEHOLDER_CHARS_MAX,
  alphabet: /[{}A-Z_0-9]/,
};

/** Restores the client's own values if the request was redacted reversibly. */
export function restoring({ placeholders }: Facts): TextFilter {
  const scanner = new Scanner([PLACEHOLDERS], ({ value }) => placeholders.original(value));
  return { feed: (text) => scanner.feed(text), end: () => scanner.end(), hasFailed: false };
}

interface Step {
  readonly filter: TextFilter;
  /** Id of its guardrail. */
  readonly id: string;
}

/** Filters for one part of a stream: the hooks that act on texts before the end, in order. */
export class PartFilters {
  private readonly steps: readonly Step[];
  /** Id of the guardrail that stopped the stream. Text released in the same step must not be sent. */
  stoppedBy: string | null = null;

  /** `isSaid`: the part belongs to a message; other parts concern only checks that look everywhere. */
  constructor(hooks: readonly Hook[], facts: Facts, isSaid = true) {
    const steps = hooks.flatMap((hook) => stepsOf(hook, facts, isSaid));
    this.steps = facts.placeholders.canRestore ? [...steps, { filter: restoring(facts), id: '' }] : steps;
  }

  feed(text: string): string {
    let out = text;
    for (const { filter, id } of this.steps) {
      out = filter.feed(out);
      if (filter.hasFailed) return this.stop(id);
    }
    return out;
  }

  end(): string {
    let out = '';
    for (const { filter, id } of this.steps) {
      out = filter.feed(out) + filter.end();
      if (filter.hasFailed) return this.stop(id);
    }
    return out;
  }

  private stop(id: string): '' {
    this.stoppedBy ??= id;
    return '';
  }
}

/** A check that neither changes texts nor may stop the stream has no step before the end. */
function stepsOf({ spec, checks }: Hook, facts: Facts, isSaid: boolean): Step[] {
  if (spec.isAsync) return [];
  const mayStop = spec.type === 'guardrail' && spec.deny;
  return checks.flatMap(({ check }) =>
    check.open && (isSaid || check.looksEverywhere) && (check.changes === true || mayStop)
      ? [{ filter: check.open(facts), id: spec.id }]
      : [],
  );
}

/** Whether a stream must be held to its end, because a hook that may deny it cannot judge earlier. */
export function needsWhole(hooks: readonly Hook[]): boolean {
  return hooks.some(
    ({ spec, checks }) =>
      spec.type === 'guardrail' && spec.deny && !spec.isAsync && checks.some(({ check }) => !check.open),
  );
}

/** Whether the hooks may change the texts of a response. */
export function mayChange(hooks: readonly Hook[], { placeholders }: Facts): boolean {
  return placeholders.canRestore || changingBy(hooks) !== null;
}

/** Id of the first guardrail that changes texts; null if there is none. */
export function changingBy(hooks: readonly Hook[]): string | null {
  const changing = hooks.find(
    ({ spec, checks }) => !spec.isAsync && checks.some(({ check }) => check.changes === true),
  );
  return changing?.spec.id ?? null;
}

/** Id of the first guardrail that may deny because of texts; null if there is none. */
export function denyingBy(hooks: readonly Hook[]): string | null {
  return hooks.find(mayDeny)?.spec.id ?? null;
}

/** Whether a hook may deny because of texts. */
export function mayDeny({ spec, checks }: Hook): boolean {
  const isGuardrail = spec.type === 'guardrail' && spec.deny && !spec.isAsync;
  return isGuardrail && checks.some(({ readsTexts }) => readsTexts);
}
