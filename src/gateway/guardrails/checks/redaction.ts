import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { mapMaybePromise } from '../../../common/maybe-promise.js';
import type { Check, Facts, Finding, CheckSubject, TextFilter } from '../check.js';
import { personalData } from '../finding/personal-data.js';
import { type DetectedValue, type Detector, Scanner } from '../finding/scanner.js';
import { SECRET_DETECTORS } from '../finding/secrets.js';
import { AcrossFilter, filteredTexts } from '../finding/filtered-texts.js';

interface Redaction {
  readonly detectors: readonly Detector[];
  readonly redact: boolean;
  readonly isReversible: boolean;
}

/**
 * Finds data by its format. A redacting check replaces its findings and passes; another one fails on a finding. Findings are reported by
 * kind and number, never by value.
 */
function redaction({ detectors, redact, isReversible }: Redaction): Check {
  const run = (subject: CheckSubject): Finding | Promise<Finding> => {
    const counts = new Map<string, number>();
    const replace = ({ detector: { kind }, value }: DetectedValue): string => {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return redact ? subject.facts.placeholders.of(kind, value, isReversible) : value;
    };
    const filtered = filteredTexts(subject, { detectors, replace, redacts: redact });
    const finding = (texts: readonly string[]): Finding => ({
      verdict: redact || counts.size === 0,
      data: { found: Object.fromEntries(counts), redacted: redact && counts.size > 0 },
      ...(redact && counts.size > 0 && { texts }),
    });
    return mapMaybePromise(filtered, finding);
  };
  const open = ({ placeholders }: Facts): TextFilter => {
    let hasFound = false;
    const scanner = new Scanner(detectors, ({ detector: { kind }, value }) => {
      hasFound = true;
      return redact ? placeholders.of(kind, value, isReversible) : value;
    });
    return {
      feed: (text) => scanner.feed(text),
      end: () => scanner.end(),
      get hasFailed() {
        return hasFound && !redact;
      },
    };
  };
  const openAcross = (before: string): TextFilter => new AcrossFilter(detectors, before);
  return { run, open, openAcross, changes: redact, looksEverywhere: true };
}

export const pii = ({ categories, redact, reversible }: ParametersOf<'default.pii'>): Check =>
  redaction({ detectors: personalData(categories), redact, isReversible: reversible });

export const secrets = ({ redact }: ParametersOf<'default.secrets'>): Check =>
  redaction({ detectors: SECRET_DETECTORS, redact, isReversible: false });
