import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import type { Check, Facts, Finding, CheckSubject, TextFilter } from '../check.js';
import { personalData } from '../finding/personal-data.js';
import { type Detector, Scanner } from '../finding/scanner.js';
import { SECRETS } from '../finding/secrets.js';

/** A text up to this size is scanned at once; a longer one in stretches, with other requests in between. */
const STRETCH_CHARS = 16 * 1024;

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
  const filter = ({ placeholders }: Facts, note: (kind: string) => void) =>
    new Scanner(detectors, ({ detector: { kind }, value }) => {
      note(kind);
      return redact ? placeholders.of(kind, value, isReversible) : value;
    });
  const run = (subject: CheckSubject): Finding | Promise<Finding> => {
    const counts = new Map<string, number>();
    const note = (kind: string) => counts.set(kind, (counts.get(kind) ?? 0) + 1);
    const filtered = filteredTexts(subject.texts, () => filter(subject.facts, note));
    const finding = (texts: readonly string[]): Finding => ({
      verdict: redact || counts.size === 0,
      data: { found: Object.fromEntries(counts), redacted: redact && counts.size > 0 },
      ...(redact && counts.size > 0 && { texts }),
    });
    return filtered instanceof Promise ? filtered.then(finding) : finding(filtered);
  };
  const open = (facts: Facts): TextFilter => {
    let hasFound = false;
    const scanner = filter(facts, () => (hasFound = true));
    return {
      feed: (text) => scanner.feed(text),
      end: () => scanner.end(),
      get hasFailed() {
        return hasFound && !redact;
      },
    };
  };
  return { run, open, changes: redact, looksEverywhere: true };
}

/** Short texts at once; a long one in stretches, with other requests in between. */
function filteredTexts(
  texts: readonly string[],
  open: () => Scanner,
): readonly string[] | Promise<readonly string[]> {
  if (texts.every(({ length }) => length <= STRETCH_CHARS)) return texts.map((text) => through(open(), text));
  return filteredInStretches(texts, open);
}

function through(scanner: Scanner, text: string): string {
  return scanner.feed(text) + scanner.end();
}

async function filteredInStretches(
  texts: readonly string[],
  open: () => Scanner,
): Promise<readonly string[]> {
  const out: string[] = [];
  for (const text of texts) {
    const scanner = open();
    let filtered = '';
    for (let from = 0; from < text.length; from += STRETCH_CHARS) {
      filtered += scanner.feed(text.slice(from, from + STRETCH_CHARS));
      await new Promise(setImmediate);
    }
    out.push(filtered + scanner.end());
  }
  return out;
}

export const pii = ({ categories, redact, reversible }: ParametersOf<'default.pii'>): Check =>
  redaction({ detectors: personalData(categories), redact, isReversible: reversible });

export const secrets = ({ redact }: ParametersOf<'default.secrets'>): Check =>
  redaction({ detectors: SECRETS, redact, isReversible: false });
