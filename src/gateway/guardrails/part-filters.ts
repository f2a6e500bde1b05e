import type { Check, Facts, TextFilter } from './check.js';
import { PLACEHOLDER, PLACEHOLDER_CHARS_MAX } from './placeholders.js';
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

/** A filter of one check. */
export interface FilterStep {
  readonly filter: TextFilter;
  /** Id of its guardrail. */
  readonly id: string;
}

/** The checks for a text: one of a message, one beside the messages, or parts of a message that are joined. */
const CHECKS_FOR = {
  said: () => true,
  beside: ({ looksEverywhere }: Check) => looksEverywhere === true,
  joined: ({ changes, searchesJoined }: Check) => changes === true || searchesJoined === true,
} as const;

export type FilteredText = keyof typeof CHECKS_FOR;

/** Filters for one part of a stream: the hooks that act on texts before the end, in order. */
export class PartFilters {
  private readonly steps: readonly FilterStep[];
  /** Id of the guardrail that stopped the stream. Text released in the same step must not be sent. */
  stoppedBy: string | null = null;

  constructor(hooks: readonly Hook[], facts: Facts, text: FilteredText = 'said') {
    const steps = hooks.flatMap((hook) =>
      actingChecks(hook).flatMap(({ check }) =>
        check.open && CHECKS_FOR[text](check) ? [{ filter: check.open(facts), id: hook.spec.id }] : [],
      ),
    );
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

/** Filters that look in a part of a stream for findings that begin in the text `before` it. */
export const acrossFilters = (hooks: readonly Hook[], before: string): FilterStep[] =>
  hooks.flatMap((hook) =>
    actingChecks(hook).flatMap(({ check: { openAcross } }) =>
      openAcross ? [{ filter: openAcross(before), id: hook.spec.id }] : [],
    ),
  );

/** A check that neither changes texts nor may stop the stream does nothing before the end. */
function actingChecks({ spec, checks }: Hook): Hook['checks'] {
  if (spec.isAsync) return [];
  const mayStop = spec.type === 'guardrail' && spec.deny;
  return checks.filter(({ check }) => check.changes === true || mayStop);
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
