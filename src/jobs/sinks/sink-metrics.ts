import { Counter, Gauge } from 'prom-client';

/** How the sinks of the request log get on. */
export const sinkMetrics = {
  deliveries: new Counter({
    name: 'gatehouse_sink_deliveries_total',
    help: 'Deliveries to sinks of the request log, by what became of them.',
    labelNames: ['sink', 'outcome'],
  }),
  rows: new Counter({
    name: 'gatehouse_sink_rows_total',
    help: 'Requests that sinks have taken.',
    labelNames: ['sink'],
  }),
  oldestSeconds: new Gauge({
    name: 'gatehouse_sink_oldest_seconds',
    help: 'Age of the oldest batch of requests that the sink has not taken.',
    labelNames: ['sink'],
  }),
};
