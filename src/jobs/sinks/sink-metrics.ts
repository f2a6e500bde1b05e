import { Counter, Gauge } from 'prom-client';

/** Metrics of the sinks of the request log. */
export const sinkMetrics = {
  deliveries: new Counter({
    name: 'gatehouse_sink_deliveries_total',
    help: 'Deliveries to log sinks, by outcome.',
    labelNames: ['sink', 'outcome'],
  }),
  rows: new Counter({
    name: 'gatehouse_sink_rows_total',
    help: 'Requests that log sinks accepted.',
    labelNames: ['sink'],
  }),
  oldestSeconds: new Gauge({
    name: 'gatehouse_sink_oldest_seconds',
    help: 'Age of the oldest batch of requests that the sink has not accepted.',
    labelNames: ['sink'],
  }),
};
