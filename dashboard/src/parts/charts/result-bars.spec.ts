import { expect, it } from 'vitest';
import { toLocal } from '../range/local-time';
import { barsOf } from './result-bars';

const at = (text: string) => new Date(`2026-11-25T${text}:00Z`);
const partial = (from: string, to: string) =>
  barsOf({ from: at(from), to: at(to) }, 60, [], 'UTC').map(({ isPartial }) => isPartial);

it('bars at the ends of a range are partial where the range begins or ends within them', () => {
  expect(partial('10:20', '13:40')).toEqual([true, false, false, true]);
  expect(partial('10:00', '13:00')).toEqual([false, false, false]);
  expect(partial('10:00', '12:01')).toEqual([false, false, true]);
});

it('bars begin at round times of the zone, and count every point once, also across a clock change', () => {
  const points = (timestamps: readonly string[]) =>
    timestamps.map((timestamp) => ({
      timestamp,
      requests: 1,
      refusals: 0,
      client_errors: 0,
      server_errors: 0,
    }));
  const kathmandu = barsOf(
    { from: at('10:20'), to: at('13:40') },
    60,
    points(['2026-11-25T10:15:00Z', '2026-11-25T12:15:00Z']),
    'Asia/Kathmandu',
  );
  expect(
    kathmandu.map(({ from, counts }) => [toLocal(from, 'Asia/Kathmandu').slice(11, 16), counts[0]]),
  ).toEqual([
    ['16:00', 1],
    ['17:00', 0],
    ['18:00', 1],
    ['19:00', 0],
  ]);

  // The clock goes forward in the night to the 29th. Days of the zone begin at 23:00 and then at 22:00.
  const days = ['2026-03-27T23:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'];
  const berlin = barsOf(
    { from: new Date('2026-03-28T09:00:00Z'), to: new Date('2026-03-30T09:00:00Z') },
    1_440,
    points(days),
    'Europe/Berlin',
  );
  expect(berlin.map(({ from, counts }) => [from.toISOString().replace('.000', ''), counts[0]])).toEqual(
    days.map((day) => [day, 1]),
  );
});

it('a bar has the requests of its points by result, and each in one series', () => {
  const point = { requests: 10, refusals: 2, client_errors: 1, server_errors: 3 };
  const timestamps = ['2026-11-25T10:15:00Z', '2026-11-25T10:45:00Z'];
  const [bar] = barsOf(
    { from: at('10:00'), to: at('11:00') },
    60,
    timestamps.map((timestamp) => ({ ...point, timestamp })),
    'UTC',
  );
  expect(bar?.counts).toEqual([8, 4, 2, 6]);
});
