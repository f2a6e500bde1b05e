import type { CacheRules, EmbeddingRules } from './document.js';
import { number, object, oneOf, type Reader, text, wholeNumber } from './readers.js';

const DAY_SECONDS = 86_400;
const NAME_CHARS_MAX = 256;

/** Below this similarity, unrelated texts match. */
const THRESHOLD_MIN = 0.7;

const name = text({ max: NAME_CHARS_MAX });

const rules = object<CacheRules>(
  {
    mode: oneOf('simple', 'semantic', 'off'),
    max_age: wholeNumber({ min: 1, max: 90 * DAY_SECONDS }),
    threshold: number({ min: 0, max: 1 }),
    embedding: object<EmbeddingRules>({ virtual_key: name, model: name }, ['virtual_key', 'model']),
  },
  ['mode'],
);

/** Cache rules of a config, or of a workspace for all of its requests. */
export const readCacheRules: Reader<CacheRules> = (value, at) => {
  const read = rules(value, at);
  if (read?.mode === 'semantic' && read.threshold !== undefined && read.threshold < THRESHOLD_MIN)
    at.at('threshold').refuse(
      `must be at least ${THRESHOLD_MIN}: below it, requests get the responses of other requests`,
    );
  return read;
};

/** The slug of a virtual key, which may have a leading @. */
export const slugOf = (virtualKey: string): string =>
  virtualKey.startsWith('@') ? virtualKey.slice(1) : virtualKey;
