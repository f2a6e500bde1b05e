import { afterEach, describe, expect, it, vi } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const LATEST_DATE = 'Fri, 31 Dec 9999 23:59:59 GMT';

let gateway: TestGateway;
afterEach(() => {
  vi.restoreAllMocks();
  return gateway.close();
});

/** How long the gateway waits before it retries, in milliseconds; null if it gives up. */
async function pauseFor(headers: Record<string, string>): Promise<number | null> {
  // The gateway's own pause, if the provider names none: at most 500 ms, times this.
  vi.spyOn(Math, 'random').mockReturnValue(0.1);
  gateway = await aGateway({ answers: [{ status: 429, headers, chunks: ['{}'] }, { chunks: ['{}'] }] });
  const startedAt = performance.now();
  const { status } = await gateway.chat(CHAT, { 'x-gateway-retry-count': '1' });
  return status === 200 ? performance.now() - startedAt : null;
}

describe('the pause before a retry', () => {
  it.each([
    ['a fraction of a second', { 'retry-after': '0.4' }, 400],
    ['nothing in retry-after-ms, and seconds beside it', { 'retry-after-ms': '', 'retry-after': '0.4' }, 400],
    ['blanks in retry-after-ms, and seconds beside it', { 'retry-after-ms': ' ', 'retry-after': '0.4' }, 400],
    [
      'nonsense in retry-after-ms, and Azure’s beside it',
      { 'retry-after-ms': 'x', 'x-ms-retry-after-ms': '400' },
      400,
    ],
    ['a fraction of a millisecond', { 'retry-after-ms': '400.5' }, 400],
    ['zero', { 'retry-after': '0' }, 0],
    ['a date that is over', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, 0],
  ])('is the one that a provider requests: %s', async (_what, headers, pauseMs) => {
    const pause = await pauseFor(headers);

    expect(pause).toBeGreaterThanOrEqual(pauseMs);
    expect(pause).toBeLessThan(pauseMs + 300);
  });

  it.each(['-5', '1.5.2', '5 apples', 'soon', '0x10', '1e3', '1,5'])(
    "is the gateway's own where retry-after is %j",
    async (value) => {
      const pause = await pauseFor({ 'retry-after': value });

      expect(pause).toBeGreaterThanOrEqual(50);
      expect(pause).toBeLessThan(350);
    },
  );

  it.each(['61', LATEST_DATE])('is refused where it is longer than a minute: %s', async (value) => {
    expect(await pauseFor({ 'retry-after': value })).toBeNull();
  });
});
