import { expect, it } from 'vitest';
import { resultPointsOf } from './result-points';

const at = (minute: number) => new Date(minute * 60_000).toISOString();

it('client errors are distinguished from errors of the provider or the gateway', () => {
  const points = resultPointsOf(
    [
      { timestamp: at(0), total: 10 },
      { timestamp: at(1), total: 5 },
    ],
    [
      {
        timestamp: at(0),
        stats: [
          { response_status_code: 429, count: 2 },
          { response_status_code: 502, count: 3 },
        ],
      },
    ],
  );

  expect(points).toEqual([
    { timestamp: at(0), requests: 10, client_errors: 2, server_errors: 3 },
    { timestamp: at(1), requests: 5, client_errors: 0, server_errors: 0 },
  ]);
});
