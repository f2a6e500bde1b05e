import { describe, expect, it } from 'vitest';
import { duration, exactMoney, money, nanoOfCents, percent, short } from './numbers';
import { exactMoment, offset, relative } from './times';

describe('money from nano-dollars', () => {
  it.each([
    [null, '–'],
    [0, '$0'],
    [49_999, '<$0.0001'],
    [50_000, '$0.0001'],
    [4_100_000, '$0.0041'],
    [999_949_999, '$0.9999'],
    [999_994_999, '$1.00'],
    [12_340_000_000, '$12.34'],
    [1_284_160_000_000, '$1,284.16'],
    [500_000_000, '$0.50'],
    [-12_340_000_000, '−$12.34'],
  ])('%s is %s', (nano, text) => expect(money(nano)).toBe(text));

  it('keeps every digit on request', () => {
    expect(exactMoney(153_600)).toBe('$0.0001536');
    expect(exactMoney(3_060_000)).toBe('$0.00306');
    expect(exactMoney(1_000_000_000)).toBe('$1.00');
  });

  it('of analytics comes in cents, and loses nothing on the way', () => {
    expect(nanoOfCents(0.0000001)).toBe(1);
    expect(nanoOfCents(128_416)).toBe(1_284_160_000_000);
  });
});

it.each([
  [950, '950'],
  [1_200, '1.2k'],
  [999_499, '999k'],
  [999_950, '1M'],
  [1_140_000, '1.14M'],
])('%d is short for %s', (count, text) => expect(short(count)).toBe(text));

it.each([
  [9, '9 ms'],
  [2_310, '2.31 s'],
  [30_000, '30.0 s'],
  [125_000, '2 min 5 s'],
  [null, '–'],
])('%s ms is %s', (ms, text) => expect(duration(ms)).toBe(text));

it('a share has as many digits as matter', () => {
  expect([percent(0), percent(0.41), percent(31.25)]).toEqual(['0 %', '0.41 %', '31.3 %']);
});

describe('times', () => {
  const at = new Date('2026-11-25T13:03:22.118Z');

  it.each([
    ['UTC', 'UTC'],
    ['Europe/Berlin', 'UTC+1'],
    ['Asia/Kolkata', 'UTC+5:30'],
    ['Asia/Kathmandu', 'UTC+5:45'],
    ['America/St_Johns', 'UTC−3:30'],
  ])('in %s are offset by %s', (zone, text) => expect(offset(zone, at)).toBe(text));

  it('are exact with their zone', () => {
    expect(exactMoment(at, 'Asia/Kathmandu')).toBe('25 Nov 2026 18:48:22.118 Asia/Kathmandu');
  });

  it('are relative in both directions', () => {
    const now = at.getTime();
    expect([relative(new Date(now - 2_000), now), relative(new Date(now + 5 * 86_400_000), now)]).toEqual([
      '2 s ago',
      'in 5 days',
    ]);
  });
});
