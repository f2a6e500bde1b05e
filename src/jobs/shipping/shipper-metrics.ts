import { Counter, Gauge } from 'prom-client';

const counter = (name: string, help: string): Counter =>
  new Counter({ name: `gatehouse_shipper_${name}`, help });
/** Read from the shipper whenever somebody asks, so that the figures of one that has ended go on to age. */
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

/** From now on the gauges are those of this shipper. */
export function measureShipper(shipper: MeasuredShipper): void {
  measured = shipper;
}

/** What the shipper of this process did, and what it still has before it. */
export const shipperMetrics = {
  rows: counter('rows_total', 'Request logs moved from the spool into the database.'),
  batches: counter('batches_total', 'Transactions in which they were moved.'),
  crashed: counter('crashed_total', 'Exchanges closed for a gateway process that died.'),
  duplicates: counter('duplicates_total', 'Request logs that were in the database already.'),
  poison: counter('poison_total', 'Request logs that the tables refused; kept as dead letters.'),
  torn: counter(
    'torn_total',
    'Half-written frames at the end of a segment: their writer died in the middle.',
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
    'Rounds that failed and are tried again, mostly because the database was away.',
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
    'Time since everything in the spool was stored: no record that waits is older.',
    ({ oldestSeconds }) => oldestSeconds,
  ),
  openExchanges: gauge(
    'spool_open_exchanges',
    'Exchanges that began and have not ended.',
    ({ openExchanges }) => openExchanges,
  ),
};

/** 1 for each table of the request log whose default partition holds a row: retention cannot reach it. Worth an alarm. */
export const strayRows = new Gauge({
  name: 'gatehouse_log_default_partition_holds_rows',
  help: 'Whether rows of the request log lie outside of the partitions by day (1), where retention cannot drop them.',
  labelNames: ['table'],
});
