import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { readQuery } from '../http/read-query.js';
import { AnalyticsQuery } from './analytics-query.dto.js';
import { analyticsQueryOf } from './analytics-query.js';

const NOW = Date.parse('2030-01-31T12:00:00Z');
const LATER = '2030-02-01T00:00:00Z';
const read = (query: Record<string, string>) => () =>
  analyticsQueryOf(readQuery(query, AnalyticsQuery), [], NOW);

describe('a range that is empty', () => {
  it('is determined by the parameters that were sent', () => {
    expect(read({ time_of_generation_min: LATER })).toThrow(
      'The parameter "time_of_generation_min" must be in the past',
    );
    expect(read({ created_at_min: LATER })).toThrow('The parameter "created_at_min" must be in the past');
    expect(read({ created_at_min: LATER, time_of_generation_max: '2030-01-01' })).toThrow(
      'The parameter "created_at_min" must be before "time_of_generation_max".',
    );
  });
});
