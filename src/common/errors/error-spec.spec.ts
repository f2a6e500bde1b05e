import { describe, expect, it } from 'vitest';
import { ERRORS } from './catalog.js';
import { type ErrorSpec, isFinal } from './error-spec.js';

const FINAL = [401, 402, 403, 446];
const specs: readonly (readonly [string, ErrorSpec])[] = Object.entries(ERRORS);
const statuses = [...new Set(specs.map(([, { status }]) => status))].sort((one, other) => one - other);
/** Codes of these statuses say the same whatever the status: nothing changes until the request does. */
const MARKED = specs.filter(([, spec]) => spec.doNotRetry === true).map(([code]) => code);

describe('x-should-retry: false', () => {
  it('has an error for each status that must not be retried', () => {
    expect(statuses).toEqual(expect.arrayContaining(FINAL));
  });

  it.each(statuses)('is on every error of the status %s, or on none but those marked', (status) => {
    const codes = specs.filter(([, spec]) => spec.status === status);
    const final = codes.filter(([, spec]) => isFinal(spec)).map(([code]) => code);
    const expected = codes
      .map(([code]) => code)
      .filter((code) => FINAL.includes(status) || MARKED.includes(code));

    expect(final).toEqual(expected);
  });

  it.each([
    'rate_limited',
    'concurrency_limited',
    'upstream_timeout',
    'upstream_error',
    'overloaded',
  ] as const)('is never on what may succeed a moment later: %s', (code) => {
    expect(isFinal(ERRORS[code])).toBe(false);
  });
});
