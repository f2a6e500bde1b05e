import { Counter, Gauge } from 'prom-client';

/** Metrics of audit destinations. Organizations create destinations, so none has a label of its own. */
export const forwardingMetrics = {
  deliveries: new Counter({
    name: 'gatehouse_audit_deliveries_total',
    help: 'Batches of audit records that were sent to destinations, by outcome.',
    labelNames: ['outcome'],
  }),
  failing: new Gauge({
    name: 'gatehouse_audit_destinations_failing',
    help: 'Destinations of audit records that accept nothing.',
    aggregator: 'max',
  }),
  failingSeconds: new Gauge({
    name: 'gatehouse_audit_destinations_failing_seconds',
    help: 'For how long the destination that has failed longest accepts no audit records; 0 when none fails.',
    aggregator: 'max',
  }),
};

for (const outcome of ['delivered', 'failed']) forwardingMetrics.deliveries.inc({ outcome }, 0);
