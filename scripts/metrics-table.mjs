/**
 * The metrics of a running instance, read from the registry of the built programs: each module registers its metrics when it is loaded, and
 * these modules load all of them.
 */
import { register } from 'prom-client';
import '../dist/administration.module.js';
import '../dist/app.module.js';
import '../dist/server/tls/tls-metrics.js';
import '../dist/worker.module.js';
import { SUPERVISOR_METRICS } from '../dist/cli/processes/merged-metrics.js';
import { startMetrics } from '../dist/common/observability/metrics.js';
import { DatabaseClock } from '../dist/database/database-clock.js';
import { registerCacheMetrics } from '../dist/gateway/caching/cache-metrics.js';
import { registerLimitMetrics } from '../dist/gateway/limits/limit-metrics.js';
import '../dist/telemetry/log-export-metrics.js';
import { registerExchangeMetrics } from '../dist/gateway/recording/exchange-metrics.js';

/** Of Node itself: https://github.com/siimon/prom-client#default-metrics */
const OF_NODE = /^gatehouse_(process_(cpu|start|resident|virtual|heap|open|max)|nodejs_)/;

/** Rows of name, type, labels and meaning. */
export function metricRows() {
  startMetrics();
  registerExchangeMetrics();
  registerLimitMetrics();
  registerCacheMetrics();
  new DatabaseClock({ query: async () => [] });
  return [...register.getMetricsAsArray(), ...Object.values(SUPERVISOR_METRICS)]
    .filter(({ name }) => !OF_NODE.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labelNames, help }) => [
      `\`${name}\``,
      type,
      labelNames.map((label) => `\`${label}\``).join(', '),
      help,
    ]);
}
