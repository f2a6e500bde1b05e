import { register } from 'prom-client';
import { expect, it } from 'vitest';
import { type BackgroundKind, countOutcome } from './background-outcomes.js';

async function countOf(kind: BackgroundKind, outcome: string): Promise<number> {
  const { values } = (await register.getSingleMetric('gatehouse_background_outcomes_total')?.get()) ?? {
    values: [],
  };
  return values.find(({ labels }) => labels.kind === kind && labels.outcome === outcome)?.value ?? NaN;
}

it.each([
  ['mail', 'sent', [1, 0]],
  ['alert', 'sent', [1, 0]],
  ['export', 'success', [1, 0]],
  ['export', 'failed', [0, 1]],
  ['mail', 'void', [0, 0]],
  ['export', 'absent', [0, 0]],
  ['export', 'released', [0, 0]],
] as const)('the outcome of a background %s that ends as %s is counted once', async (kind, result, added) => {
  const before = [await countOf(kind, 'done'), await countOf(kind, 'failed')];

  expect(await countOutcome(kind, Promise.resolve(result))).toBe(result);

  const after = [await countOf(kind, 'done'), await countOf(kind, 'failed')];
  expect(after.map((count, at) => count - (before[at] as number))).toEqual(added);
});

it.each(['mail', 'alert', 'export'] as const)(
  'a failed attempt of a background %s is counted',
  async (kind) => {
    const before = await countOf(kind, 'failed');

    await expect(countOutcome(kind, Promise.reject(new Error('refused')))).rejects.toThrow('refused');

    expect(await countOf(kind, 'failed')).toBe(before + 1);
  },
);
