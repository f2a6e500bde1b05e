import { describe, expect, it } from 'vitest';
import { brokenLine, lineOf } from './json-places';

const TEXT = JSON.stringify(
  { strategy: { mode: 'fallback' }, targets: [{ provider: 'a' }, { provider: 'b', weigth: 1 }] },
  null,
  2,
);

describe('the line of a path', () => {
  it.each([
    ['config', 1],
    ['config.strategy', 2],
    ['config.strategy.mode', 3],
    ['config.targets[0].provider', 7],
    ['config.targets[1].weigth', 11],
  ])('%s is %i', (path, line) => {
    expect(lineOf(TEXT, path)).toBe(line);
  });

  it('of what is missing is that of the thing around it', () => {
    expect(lineOf(TEXT, 'config.targets[1].retry.attempts')).toBe(9);
    expect(lineOf(TEXT, 'config.colour')).toBe(1);
    expect(lineOf('', 'config.targets')).toBe(1);
  });
});

it('the first line that is no JSON is found', () => {
  expect(brokenLine(TEXT)).toBeNull();
  expect(brokenLine('{\n  "a": 1,\n  b\n}')).toBe(3);
  expect(brokenLine('{\n  "a": [1')).toBe(2);
});
