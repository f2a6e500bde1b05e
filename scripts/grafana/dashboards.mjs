/**
 * The dashboards of deploy/grafana as data. A panel is a title, a unit and queries; `panels.mjs` makes Grafana's JSON of it, and takes the
 * descriptions from the metrics themselves. `deploy/test` evaluates each query against a Prometheus that scrapes the service.
 */

const of = (metric, labels = '') => `${metric}{instance=~"$instance"${labels && `, ${labels}`}}`;
const by = (names) => (names ? ` by (${names})` : '');
/** Per second. */
const rate = (metric, names, labels) => `sum${by(names)} (rate(${of(metric, labels)}[$__rate_interval]))`;
/** In the whole time that the dashboard shows. */
const increase = (metric, names, labels) => `sum${by(names)} (increase(${of(metric, labels)}[$__range]))`;
const sum = (metric, names) => `sum${by(names)} (${of(metric)})`;
const max = (metric, names) => `max${by(names)} (${of(metric)})`;
const quantile = (share, metric, names) =>
  `histogram_quantile(${share}, ${rate(`${metric}_bucket`, names ? `le, ${names}` : 'le')})`;
const top = (query) => `topk(10, ${query})`;
/** 0 without a failure: the series of a status begins with its first request. */
const orNone = (query) => `(${query} or vector(0))`;

const query = (expr, legend) => ({ expr, legend });
const panel = (title, unit, ...queries) => ({ title, unit, queries });

const REQUESTS = 'gatehouse_requests_total';
const FAILED = 'status="5xx"';
const DURATION = 'gatehouse_request_duration_seconds';
const FIRST_TOKEN = 'gatehouse_first_token_seconds';

const quantiles = (metric) =>
  [0.5, 0.95, 0.99].map((share) => query(quantile(share, metric), `p${share * 100}`));

export const DASHBOARDS = {
  fleet: {
    title: 'Gatehouse: fleet',
    panels: [
      panel('Requests', 'reqps', query(rate(REQUESTS, 'status'), '{{status}}')),
      panel(
        'Failed requests',
        'percentunit',
        query(`${orNone(rate(REQUESTS, '', FAILED))} / ${rate(REQUESTS)}`, '5xx'),
      ),
      panel(
        'Running requests',
        'short',
        query(sum('gatehouse_requests_running', 'instance'), '{{instance}}'),
      ),
      panel('Duration', 's', ...quantiles(DURATION)),
      panel('Time to first token', 's', ...quantiles(FIRST_TOKEN)),
      panel(
        'Overhead of the gateway, mean',
        's',
        query(`${rate('gatehouse_overhead_seconds_total')} / ${rate(REQUESTS)}`, 'mean'),
      ),
      panel(
        'Refused credentials',
        'reqps',
        query(rate('gatehouse_refused_credentials_total', 'reason'), '{{reason}}'),
      ),
      panel(
        'Processes that are ready',
        'short',
        query(sum('gatehouse_processes_ready', 'instance, process'), '{{instance}} {{process}}'),
      ),
      panel(
        'Restarts of processes',
        'short',
        query(increase('gatehouse_process_restarts_total', 'instance, process'), '{{instance}} {{process}}'),
      ),
      panel(
        'Processor time',
        'percentunit',
        query(rate('gatehouse_process_cpu_seconds_total', 'instance'), '{{instance}}'),
      ),
      panel(
        'Memory',
        'bytes',
        query(sum('gatehouse_process_resident_memory_bytes', 'instance'), '{{instance}}'),
      ),
      panel(
        'Event loop lag, p99',
        's',
        query(max('gatehouse_nodejs_eventloop_lag_p99_seconds', 'instance'), '{{instance}}'),
      ),
      panel(
        'Open file descriptors',
        'short',
        query(sum('gatehouse_process_open_fds', 'instance'), '{{instance}}'),
      ),
      panel(
        'Garbage collection, per second',
        'percentunit',
        query(rate('gatehouse_nodejs_gc_duration_seconds_sum', 'instance'), '{{instance}}'),
      ),
    ],
  },
  money: {
    title: 'Gatehouse: money',
    panels: [
      panel(
        'Dollars per hour by provider',
        'currencyUSD',
        query(`3600 * ${rate('gatehouse_cost_dollars_total', 'provider')}`, '{{provider}}'),
      ),
      panel(
        'Cost in the shown time',
        'currencyUSD',
        query(increase('gatehouse_cost_dollars_total', 'provider'), '{{provider}}'),
      ),
      panel(
        'Dollars per 1,000 requests',
        'currencyUSD',
        query(`1000 * ${rate('gatehouse_cost_dollars_total')} / ${rate(REQUESTS)}`, 'mean'),
      ),
      panel(
        'Models by dollars per hour',
        'currencyUSD',
        query(
          top(`3600 * ${rate('gatehouse_model_cost_dollars_total', 'provider, model')}`),
          '{{provider}} {{model}}',
        ),
      ),
      panel(
        'Virtual keys by dollars per hour',
        'currencyUSD',
        query(
          top(`3600 * ${rate('gatehouse_virtual_key_cost_dollars_total', 'virtual_key')}`),
          '{{virtual_key}}',
        ),
      ),
      panel(
        'Virtual keys by requests',
        'reqps',
        query(top(rate('gatehouse_virtual_key_requests_total', 'virtual_key')), '{{virtual_key}}'),
      ),
      panel('Input tokens', 'short', query(rate('gatehouse_input_tokens_total', 'provider'), '{{provider}}')),
      panel(
        'Output tokens',
        'short',
        query(rate('gatehouse_output_tokens_total', 'provider'), '{{provider}}'),
      ),
      panel(
        'Requests that a limit refused',
        'reqps',
        query(rate('gatehouse_limits_refused_total'), 'refused'),
      ),
      panel(
        'Requests that passed without a rate limit',
        'reqps',
        query(rate('gatehouse_limits_failed_open_total'), 'passed'),
      ),
      panel('Response cache', 'reqps', query(rate('gatehouse_cache_requests_total', 'status'), '{{status}}')),
    ],
  },
  providers: {
    title: 'Gatehouse: providers',
    panels: [
      panel('Requests', 'reqps', query(rate(REQUESTS, 'provider'), '{{provider}}')),
      panel(
        'Failed requests',
        'percentunit',
        query(
          `${rate(REQUESTS, 'provider', 'status="5xx", ending!="refused"')} / ${rate(REQUESTS, 'provider', 'ending!="refused"')}`,
          '{{provider}}',
        ),
      ),
      panel('Endings', 'reqps', query(rate(REQUESTS, 'provider, ending'), '{{provider}} {{ending}}')),
      panel('Duration, p95', 's', query(quantile(0.95, DURATION, 'provider'), '{{provider}}')),
      panel('Time to first token, p95', 's', query(quantile(0.95, FIRST_TOKEN, 'provider'), '{{provider}}')),
      panel('Endpoints', 'reqps', query(rate(REQUESTS, 'endpoint'), '{{endpoint}}')),
      panel(
        'Models by requests',
        'reqps',
        query(top(rate('gatehouse_model_requests_total', 'provider, model')), '{{provider}} {{model}}'),
      ),
      panel(
        'Output tokens a second',
        'short',
        query(rate('gatehouse_output_tokens_total', 'provider'), '{{provider}}'),
      ),
    ],
  },
  'data-path': {
    title: 'Gatehouse: data path of the request log',
    panels: [
      panel(
        'Exchanges written to the spool',
        'reqps',
        query(rate('gatehouse_spool_opened_total'), 'opened'),
        query(rate('gatehouse_spool_closed_total'), 'closed'),
      ),
      panel(
        'Request logs stored in the database',
        'short',
        query(rate('gatehouse_shipper_rows_total', 'instance'), '{{instance}}'),
      ),
      panel('Batches', 'short', query(rate('gatehouse_shipper_batches_total', 'instance'), '{{instance}}')),
      panel(
        'Oldest record in the spool',
        's',
        query(max('gatehouse_spool_oldest_seconds', 'instance'), '{{instance}}'),
      ),
      panel(
        'Spool on disk',
        'bytes',
        query(sum('gatehouse_spool_pending_bytes', 'instance'), '{{instance}}'),
      ),
      panel(
        'Bytes written to the spool',
        'Bps',
        query(rate('gatehouse_spool_bytes_total', 'instance'), '{{instance}}'),
      ),
      panel(
        'Open exchanges',
        'short',
        query(sum('gatehouse_spool_open_exchanges', 'instance'), '{{instance}}'),
      ),
      panel(
        'State of the spool',
        'short',
        query(max('gatehouse_spool_degraded', 'instance'), '{{instance}}'),
      ),
      panel(
        'Losses',
        'short',
        query(increase('gatehouse_spool_bodies_dropped_total'), 'bodies'),
        query(increase('gatehouse_spool_records_dropped_total'), 'records'),
        query(increase('gatehouse_shipper_poison_total'), 'dead letters'),
        query(increase('gatehouse_shipper_damaged_total'), 'damaged'),
      ),
      panel(
        'Failed rounds',
        'short',
        query(increase('gatehouse_shipper_failures_total'), 'database'),
        query(increase('gatehouse_shipper_folder_failures_total'), 'folder'),
        query(increase('gatehouse_shipper_announce_failures_total'), 'queue'),
        query(increase('gatehouse_shipper_conflicts_total'), 'conflicts'),
      ),
      panel(
        'Repeated and crashed',
        'short',
        query(increase('gatehouse_shipper_duplicates_total'), 'duplicates'),
        query(increase('gatehouse_shipper_crashed_total'), 'crashed exchanges'),
        query(increase('gatehouse_shipper_torn_total'), 'torn frames'),
      ),
      panel(
        'Age of the last success of each loop',
        's',
        query(max('gatehouse_loop_last_success_age_seconds', 'loop'), '{{loop}}'),
      ),
      panel(
        'Failed rounds of loops',
        'short',
        query(increase('gatehouse_loop_failures_total', 'loop'), '{{loop}}'),
      ),
      panel(
        'Mails, alerts and exports',
        'short',
        query(increase('gatehouse_background_outcomes_total', 'kind, outcome'), '{{kind}} {{outcome}}'),
      ),
      panel(
        'Ingested logs that were refused',
        'short',
        query(increase('gatehouse_log_inbox_refused_total'), 'refused'),
      ),
    ],
  },
  stores: {
    title: 'Gatehouse: stores and receivers',
    panels: [
      panel(
        'Limit stores that do not respond',
        'short',
        query(max('gatehouse_limits_store_unavailable', 'instance'), '{{instance}}'),
      ),
      panel(
        'Requests without one of their limits',
        'reqps',
        query(rate('gatehouse_limits_failed_open_total', 'instance'), '{{instance}}'),
      ),
      panel(
        'Failures of limit counters',
        'short',
        query(increase('gatehouse_limits_single_faults_total', 'instance'), '{{instance}}'),
      ),
      panel(
        'Failures of the cache store',
        'short',
        query(increase('gatehouse_cache_store_failures_total', 'instance'), '{{instance}}'),
      ),
      panel(
        'Cached responses in memory',
        'bytes',
        query(sum('gatehouse_cache_memory_bytes', 'instance'), '{{instance}}'),
      ),
      panel(
        'Embeddings in memory',
        'bytes',
        query(sum('gatehouse_cache_vector_bytes', 'instance'), '{{instance}}'),
      ),
      panel(
        'Embeddings',
        'short',
        query(rate('gatehouse_cache_embeddings_total'), 'made'),
        query(rate('gatehouse_cache_embedding_failures_total'), 'too late'),
      ),
      panel('Responses put into the cache', 'reqps', query(rate('gatehouse_cache_kept_total'), 'kept')),
      panel(
        'Clock ahead of the database',
        's',
        query(max('gatehouse_clock_offset_seconds', 'instance'), '{{instance}}'),
      ),
      panel(
        'Rows outside the daily partitions',
        'short',
        query(max('gatehouse_log_default_partition_holds_rows', 'table'), '{{table}}'),
      ),
      panel(
        'Log sinks: age of the oldest batch',
        's',
        query(max('gatehouse_sink_oldest_seconds', 'sink'), '{{sink}}'),
      ),
      panel('Log sinks: rows', 'short', query(rate('gatehouse_sink_rows_total', 'sink'), '{{sink}}')),
      panel(
        'Log sinks: deliveries',
        'short',
        query(rate('gatehouse_sink_deliveries_total', 'sink, outcome'), '{{sink}} {{outcome}}'),
      ),
      panel(
        'Audit destinations that fail',
        'short',
        query(max('gatehouse_audit_destinations_failing'), 'failing'),
      ),
      panel(
        'Audit destinations: longest failure',
        's',
        query(max('gatehouse_audit_destinations_failing_seconds'), 'longest'),
      ),
      panel(
        'Audit deliveries',
        'short',
        query(rate('gatehouse_audit_deliveries_total', 'outcome'), '{{outcome}}'),
      ),
      panel(
        'Audit logs that were set back',
        'short',
        query(max('gatehouse_audit_chains_set_back'), 'set back'),
      ),
    ],
  },
};
