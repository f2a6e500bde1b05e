import { expect, it } from 'vitest';
import { resultPointsOf } from './result-points';

const at = (minute: number) => new Date(minute * 60_000).toISOString();

it('client errors, errors of the provider or the gateway, and refusals of the gateway are distinguished', () => {
  const points = resultPointsOf(
    [
      { timestamp: at(0), total: 10 },
      { timestamp: at(1), total: 5 },
    ],
    [
      {
        timestamp: at(0),
        stats: [
          { response_status_code: 429, count: 4, refusals: 2 },
          { response_status_code: 502, count: 3, refusals: 0 },
          { response_status_code: 503, count: 1, refusals: 1 },
        ],
      },
    ],
  );

  expect(points).toEqual([
    { timestamp: at(0), requests: 10, refusals: 3, client_errors: 2, server_errors: 3 },
    { timestamp: at(1), requests: 5, refusals: 0, client_errors: 0, server_errors: 0 },
  ]);
});
