import type { RoutingConfig } from './document.js';
import { readFields } from './fields.js';
import { type Mistake, DocumentPath } from './document-path.js';
import { checkRules, type ConfigOrigin } from './rules.js';
import { unsoundness } from './soundness.js';

export type { RoutingConfig } from './document.js';
export type { Mistake } from './document-path.js';

/** A valid config, or all mistakes of the document. */
export type ReadConfig =
  | { readonly config: RoutingConfig; readonly mistakes?: undefined }
  | { readonly mistakes: readonly Mistake[] };

/**
 * Reads a routing document: saved through the administration, or sent by a caller in `x-gateway-config`.
 *
 * All mistakes are reported at once, each with its path (`config.targets[1].weight`), up to a hundred. A document that is too large, too
 * deep or harmful is not read any further, and has one mistake. `origin` is `saved` for documents to be stored: they must not contain
 * secrets.
 */
export function readRoutingConfig(document: unknown, origin: ConfigOrigin = 'saved'): ReadConfig {
  const unsound = unsoundness(document);
  if (unsound) return { mistakes: [unsound] };
  const mistakes: Mistake[] = [];
  const root = DocumentPath.root(mistakes);
  const config = readFields(document, root);
  if (config) checkRules(config, root, origin);
  return config && mistakes.length === 0 ? { config } : { mistakes };
}

/** Details of the error for these mistakes; its `param` is the place of the first. */
export function mistakeDetails(
  mistakes: readonly Mistake[],
  detail = mistakesInWords(mistakes),
): { readonly detail: string; readonly parameter?: string } {
  const [first] = mistakes;
  return { detail, ...(first && { parameter: first.path }) };
}

/** The mistakes in one sentence, for an error message. */
export function mistakesInWords(mistakes: readonly Mistake[]): string {
  const shown = mistakes.slice(0, WORDED_MAX).map(({ path, message }) => `${path} ${message}`);
  const rest = mistakes.length - shown.length;
  return rest > 0 ? `${shown.join('; ')}; and ${rest} more` : shown.join('; ');
}

const WORDED_MAX = 20;
