import { expect, it } from 'vitest';
import { barsOf } from './result-bars';

const at = (text: string) => new Date(`2026-11-25T${text}:00Z`);
const partial = (from: string, to: string) =>
  barsOf({ from: at(from), to: at(to) }, 60, []).map(({ isPartial }) => isPartial);

it('bars at the ends of a range are partial where the range begins or ends within them', () => {
  expect(partial('10:20', '13:40')).toEqual([true, false, false, true]);
  expect(partial('10:00', '13:00')).toEqual([false, false, false]);
  expect(partial('10:00', '12:01')).toEqual([false, false, true]);
});
