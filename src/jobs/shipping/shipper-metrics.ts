import { Counter, Gauge } from 'prom-client';

const counter = (name: string, help: string): Counter =>
  new Counter({ name: `gatehouse_shipper_${name}`, help });
/** Read from the shipper on scrape, so that the values keep ageing after it ended. */
const gauge = (name: string, help: string, read: (shipper: MeasuredShipper) => number): Gauge =>
  new Gauge({
    name: `gatehouse_${name}`,
    help,
    collect() {
      if (measured) this.set(read(measured));
    },
  });

interface MeasuredShipper {
  readonly oldestSeconds: number;
  readonly openExchanges: number;
  readonly pendingBytes: number;
}

let measured: MeasuredShipper | null = null;

/** Points the gauges to this shipper. */
export function measureShipper(shipper: MeasuredShipper): void {
  measured = shipper;
}

/** Metrics of this process's shipper: its work and its backlog. */
export const shipperMetrics = {
  rows: counter('rows_total', 'Request logs moved from the spool into the database.'),
  batches: counter('batches_total', 'Transactions in which they were moved.'),
  crashed: counter('crashed_total', 'Exchanges closed for a gateway process that was killed.'),
  duplicates: counter('duplicates_total', 'Request logs that were in the database already.'),
  poison: counter('poison_total', 'Request logs that the tables refused; kept as dead letters.'),
  torn: counter(
    'torn_total',
    'Half-written frames at the end of a segment, left by a process that was killed.',
  ),
  damaged: counter('damaged_total', 'Damaged places in segments that were skipped.'),
  damagedKept: counter(
    'damaged_segments_total',
    'Damaged segments that were moved to the folder `damaged` of the spool.',
  ),
  folderFailures: counter(
    'folder_failures_total',
    'Rounds in which the folder of one writer could not be read or cleared; other folders are not affected.',
  ),
  conflicts: counter('conflicts_total', 'Batches given up because another shipper had moved the cursor.'),
  failures: counter(
    'failures_total',
    'Rounds that failed and are retried, mostly because the database was unavailable.',
  ),
  announceFailures: counter(
    'announce_failures_total',
    'Batches that could not be announced; a sweep finds them.',
  ),
  pendingBytes: gauge(
    'spool_pending_bytes',
    'Bytes in segments of the spool, stored or not, that are not deleted yet.',
    ({ pendingBytes }) => pendingBytes,
  ),
  oldestSeconds: gauge(
    'spool_oldest_seconds',
    'Seconds since the spool was last fully stored. No waiting record is older.',
    ({ oldestSeconds }) => oldestSeconds,
  ),
  openExchanges: gauge(
    'spool_open_exchanges',
    'Exchanges that began and have not ended.',
    ({ openExchanges }) => openExchanges,
  ),
};

/** 1 for each table of the request log with rows in its default partition, which retention cannot reach. Alert on it. */
export const strayRows = new Gauge({
  name: 'gatehouse_log_default_partition_holds_rows',
  help: '1 when request log rows are outside the daily partitions, where retention cannot drop them; else 0.',
  labelNames: ['table'],
});
