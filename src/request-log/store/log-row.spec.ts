import { describe, expect, it } from 'vitest';
import type { AttemptRecord } from '../record.js';
import { furtherTries } from './log-row.js';

const at = (option_path: string, origin = 'https://a.example'): AttemptRecord =>
  ({ option_path, origin, provider: 'openai', virtual_key_id: null }) as AttemptRecord;

describe('furtherTries', () => {
  it.each([
    ['no try', [], { retry_count: 0, fallback_count: 0 }],
    ['one', [at('config')], { retry_count: 0, fallback_count: 0 }],
    ['two of one target', [at('config'), at('config')], { retry_count: 1, fallback_count: 0 }],
    [
      'two targets',
      [at('config.targets[0]'), at('config.targets[1]')],
      { retry_count: 0, fallback_count: 1 },
    ],
    [
      'another host',
      [at('config'), at('config', 'https://b.example')],
      { retry_count: 0, fallback_count: 1 },
    ],
    [
      'both',
      [at('config.targets[0]'), at('config.targets[0]'), at('config.targets[1]')],
      { retry_count: 1, fallback_count: 1 },
    ],
  ])('distinguishes retries from fallbacks: %s', (_, attempts, expected) => {
    expect(furtherTries(attempts)).toEqual(expected);
  });
});
