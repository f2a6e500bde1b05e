import { describe, expect, it } from 'vitest';
import { anOpened, aRecord } from '../../../test/support/exchanges.js';
import { withCountedUsage } from './count-usage.js';
import type { UsageCounter } from './ports.js';

const counter: UsageCounter = {
  countTokens: (text) => text.length,
  costOf: (_usage, { input }) => input,
};
const silent = { usage: null, usage_source: 'none' as const, cost_nano_usd: null, response_model: null };
const countable = { input: 'four', output: 'to' };
const [answered] = aRecord().attempts;
if (!answered) throw new Error('A record has an attempt.');
const unpriced = { ...answered, usage: null, cost_nano_usd: null };
const price = { source: 'list', model: 'known', input: 900, output: 0 } as const;
const quiet = { ...unpriced, price };

describe('withCountedUsage', () => {
  it('prefers usage of the provider', () => {
    const record = aRecord(anOpened(), { countable });

    expect(withCountedUsage(record, counter)).toBe(record);
  });

  it.each([
    ['more than that was', 'a tale of forty two characters, more than so', 44],
    ['less', 'a tale', 20],
  ])('counts an output whose beginning alone was reported, where it is %s', (_, output, output_tokens) => {
    const usage = { input_tokens: 700, cached_input_tokens: 600, output_tokens: 20 };
    const record = aRecord(anOpened(), {
      usage,
      attempts: [{ ...quiet, usage, cost_nano_usd: 5 }],
      countable: { input: '', output, isOutputOnly: true },
    });

    expect(withCountedUsage(record, counter)).toMatchObject({
      usage: { ...usage, output_tokens },
      usage_source: 'counted',
      cost_nano_usd: 900,
      attempts: [{ usage: { ...usage, output_tokens }, cost_nano_usd: 900 }],
    });
  });

  it('leaves usage unknown when there is nothing to count', () => {
    const record = aRecord(anOpened(), silent);

    expect(withCountedUsage(record, counter)).toBe(record);
  });

  it('gives usage and cost to the attempt that responded, and the sum to the request', () => {
    const failed = { ...unpriced, status: 500 };
    const record = aRecord(anOpened(), {
      ...silent,
      countable,
      attempts: [failed, answered, quiet],
    });

    const found = withCountedUsage(record, counter);

    expect(found).toMatchObject({
      usage: { input_tokens: 4, output_tokens: 2 },
      usage_source: 'counted',
      cost_nano_usd: 4500,
    });
    expect(found.attempts.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([null, 3600, 900]);
  });

  it('charges by the price that was in force, and nothing where there was none', () => {
    const costAt = (attempt: typeof unpriced) =>
      withCountedUsage(aRecord(anOpened(), { ...silent, countable, attempts: [attempt] }), counter)
        .cost_nano_usd;

    expect([costAt(quiet), costAt(unpriced)]).toEqual([900, null]);
  });

  it('leaves the sum unknown when an earlier attempt used an unknown price', () => {
    const used = { ...answered, cost_nano_usd: null };
    const record = aRecord(anOpened(), {
      ...silent,
      countable,
      attempts: [used, quiet],
    });

    expect(withCountedUsage(record, counter).cost_nano_usd).toBeNull();
  });

  it('survives a counter that fails', () => {
    const record = aRecord(anOpened(), { ...silent, countable });
    const broken = {
      ...counter,
      countTokens: () => {
        throw new Error('no tables');
      },
    };

    expect(withCountedUsage(record, broken)).toBe(record);
  });

  it('counts a discarded response at its own price, and adds it to the cost of the request', () => {
    const lost = { ...quiet, countable: { model: 'known', input: 'longer', output: '' } };
    const record = aRecord(anOpened(), { attempts: [lost, answered] });

    const found = withCountedUsage(record, counter);

    expect(found.attempts).toMatchObject([
      { usage: { input_tokens: 6, output_tokens: 0 }, cost_nano_usd: 900 },
      { cost_nano_usd: 3600 },
    ]);
    expect(found).toMatchObject({ usage: record.usage, usage_source: 'provider', cost_nano_usd: 4500 });
  });

  it('counts the output of a discarded response once its provider had reported its input', () => {
    const begun = { input_tokens: 40, output_tokens: 1 };
    const lost = {
      ...quiet,
      usage: begun,
      countable: { model: 'known', input: '', output: 'more', isOutputOnly: true as const },
    };

    const [attempt] = withCountedUsage(aRecord(anOpened(), { attempts: [lost, answered] }), counter).attempts;

    expect(attempt).toMatchObject({ usage: { input_tokens: 40, output_tokens: 4 }, cost_nano_usd: 900 });
  });
});
