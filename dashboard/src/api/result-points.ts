interface RequestPoint {
  readonly timestamp?: string;
  readonly total?: number;
}

/** As in the graph `errors/stacks`. */
export interface StatusCount {
  readonly response_status_code?: number;
  readonly count?: number;
  /** How many of them the gateway refused. */
  readonly refusals?: number;
}

interface ErrorPoint {
  readonly timestamp?: string;
  readonly stats?: readonly StatusCount[];
}

const SERVER_ERROR = 500;

/** The points of two graphs, by result as in the overview. */
export function resultPointsOf(requests: readonly RequestPoint[], errors: readonly ErrorPoint[]) {
  const stats = new Map(errors.map((point) => [point.timestamp, point.stats ?? []]));
  return requests.map(({ timestamp = '', total = 0 }) => ({
    timestamp,
    requests: total,
    ...resultsOf(stats.get(timestamp) ?? []),
  }));
}

function resultsOf(stats: readonly StatusCount[]) {
  const results = { refusals: 0, client_errors: 0, server_errors: 0 };
  for (const { response_status_code = 0, count = 0, refusals = 0 } of stats) {
    results.refusals += refusals;
    results[response_status_code >= SERVER_ERROR ? 'server_errors' : 'client_errors'] += count - refusals;
  }
  return results;
}
