import { describe, expect, it } from 'vitest';
import type { RoutingConfig } from '../../../routing-config/document.js';
import { attemptReasons } from './attempt-reasons.js';

const CONFIG: RoutingConfig = {
  strategy: { mode: 'fallback', on_status_codes: [429] },
  targets: [
    { provider: 'anthropic', retry: { attempts: 2, on_status_codes: [529] } },
    {
      strategy: { mode: 'fallback' },
      targets: [{ provider: 'openai' }, { provider: 'groq' }],
    },
  ],
};

const tried = (
  attempt: number,
  option_path: string,
  status: number | null,
  error_code: string | null = null,
) => ({
  attempt,
  option_path,
  provider: 'any',
  status,
  error_code,
});
const settingsOf = (attempts: readonly ReturnType<typeof tried>[], document: RoutingConfig | null = CONFIG) =>
  attemptReasons(attempts, document, new Set()).map(({ kind, after_attempt, status, setting }) => [
    kind,
    after_attempt,
    status,
    setting,
  ]);

describe('why an attempt was made', () => {
  it('names the list of the config that made it: of the retry, and of the fallback that moved on', () => {
    expect(
      settingsOf([
        tried(0, 'config.targets[0]', 529),
        tried(1, 'config.targets[0]', 429),
        tried(2, 'config.targets[1].targets[0]', 500),
        tried(3, 'config.targets[1].targets[1]', 200),
      ]),
    ).toEqual([
      ['first', null, null, null],
      ['retry', 0, 529, 'config.targets[0].retry.on_status_codes'],
      ['fallback', 1, 429, 'config.strategy.on_status_codes'],
      // That fallback has no list of its own, so its default rule applied.
      ['fallback', 2, 500, null],
    ]);
  });

  it('names no list for a config that is not on record, or for a failure without a response', () => {
    const attempts = [
      tried(0, 'config.targets[0]', null, 'upstream_timeout'),
      tried(1, 'config.targets[1]', 200),
    ];
    expect(settingsOf(attempts, null)[1]).toEqual(['fallback', 0, null, null]);
    expect(attemptReasons(attempts, CONFIG, new Set())[1]).toMatchObject({ error_code: 'upstream_timeout' });
  });

  it('distinguishes a hedged attempt from a fallback', () => {
    const attempts = [tried(0, 'config.targets[0]', null), tried(1, 'config.targets[1]', 200)];
    const [, second] = attemptReasons(attempts, CONFIG, new Set(['config.targets[1]']));
    expect(second).toMatchObject({ kind: 'hedge', after_attempt: null });
  });

  it("leaves the gateway's own questions out of the story", () => {
    expect(
      settingsOf([tried(0, 'config.cache.embedding', 500), tried(1, 'config.targets[0]', 200)]).map(
        ([kind]) => kind,
      ),
    ).toEqual(['side_call', 'first']);
  });
});
