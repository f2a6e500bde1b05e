import { Counter, Gauge } from 'prom-client';

/** Counters of this process's writers. Plain numbers, because they change with every request; the metrics read them on scrape. */
export const spoolCounts = {
  opened: 0,
  closed: 0,
  bytes: 0,
  bodiesDropped: 0,
  recordsDropped: 0,
  /** 0 ok, 1 degraded, 2 exhausted. */
  degraded: 0,
};

counting(
  'gatehouse_spool_opened_total',
  'Exchanges whose beginning was written to the spool.',
  () => spoolCounts.opened,
);
counting(
  'gatehouse_spool_closed_total',
  'Exchanges whose end was written to the spool.',
  () => spoolCounts.closed,
);
counting('gatehouse_spool_bytes_total', 'Bytes written to the spool.', () => spoolCounts.bytes);
counting(
  'gatehouse_spool_bodies_dropped_total',
  'Records kept without bodies, because the disk was full.',
  () => spoolCounts.bodiesDropped,
);
counting(
  'gatehouse_spool_records_dropped_total',
  'Records lost, because disk and reserve were full.',
  () => spoolCounts.recordsDropped,
);
new Gauge({
  name: 'gatehouse_spool_degraded',
  aggregator: 'max',
  help: 'State of the spool: 0 ok, 1 kept without bodies (disk full), 2 kept in memory (reserve full).',
  collect() {
    this.set(spoolCounts.degraded);
  },
});

/** For `/readyz?verbose`; null while records are written with their bodies. */
export function spoolProblem(): string | null {
  switch (spoolCounts.degraded) {
    case 0:
      return null;
    case 1:
      return 'The disk of the spool is full. Requests are logged without bodies.';
    default:
      return 'The disk of the spool is full, and so is its reserve. Records wait in memory and are lost with the process.';
  }
}

function counting(name: string, help: string, value: () => number): void {
  new Counter({
    name,
    help,
    collect() {
      this.reset();
      this.inc(value());
    },
  });
}
