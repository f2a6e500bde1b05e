import { linearPattern, patternProblem } from '../../routing-config/guardrails/linear-pattern.js';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { listReader, object, type Reader, text } from '../../routing-config/readers.js';
import { type Mistake, DocumentPath } from '../../routing-config/document-path.js';
import { mistakeDetails, mistakesInWords } from '../../routing-config/routing-config.js';
import { AppError } from '../../common/errors/app-error.js';
import { jsonPath } from './json-path.js';

const MOST_HEADERS = 100;
const MOST_PATHS = 50;
const MOST_PATTERNS = 20;
const LONGEST_PATH = 512;
const LONGEST_PATTERN = 512;

/** https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const header = text({ max: 128, pattern: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, expected: 'the name of a header' });

const path: Reader<string> = (value, at) => {
  const given = text({ max: LONGEST_PATH })(value, at);
  if (given === undefined) return undefined;
  try {
    jsonPath(given);
    return given;
  } catch (error) {
    return at.refuse(`is not a path: ${(error as Error).message}`);
  }
};

const pattern: Reader<string> = (value, at) => {
  const given = text({ max: LONGEST_PATTERN })(value, at);
  if (given === undefined) return undefined;
  const problem = patternProblem(given);
  if (problem !== null) return at.refuse(`is invalid: ${problem}`);
  return linearPattern(given).matcher('').find()
    ? at.refuse('matches the empty string, so it would match everywhere')
    : given;
};

const upTo = <T>(item: Reader<T>, max: number): Reader<readonly T[]> => listReader(item, { min: 0, max });

const rules = object<LogRedaction>({
  headers: upTo(header, MOST_HEADERS),
  json_paths: upTo(path, MOST_PATHS),
  patterns: upTo(pattern, MOST_PATTERNS),
});

/** Rules as stored; null for none. Throws `invalid_request`, which names the path of each error. */
export function readRedaction(given: unknown): LogRedaction | null {
  if (given === null) return null;
  const mistakes: Mistake[] = [];
  const read = rules(given, DocumentPath.root(mistakes, 'log_redaction'));
  if (!read || mistakes.length > 0)
    throw new AppError('invalid_request', mistakeDetails(mistakes, `${mistakesInWords(mistakes)}.`));
  return Object.values(read).some(({ length }) => length > 0) ? read : null;
}
