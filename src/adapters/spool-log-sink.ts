import type {
  AttemptRecord,
  CapturedBodies,
  OpenedExchange,
  RequestLogRecord,
} from '../request-log/record.js';
import type { Logger } from '../common/observability/logger.js';
import { encodeClosed, encodeOpened, encodeUpdated } from '../request-log/spool/frame.js';
import { spoolCounts } from '../request-log/spool/spool-metrics.js';
import { SpoolWriter, type SpoolWriterOptions } from '../request-log/spool/spool-writer.js';
import { LogSink } from '../gateway/ports.js';

/** Writes records of exchanges to the local spool, from which the background process's shipper takes them. */
export class SpoolLogSink extends LogSink {
  private readonly writer: SpoolWriter;
  private readonly logger: Logger;

  constructor(options: SpoolWriterOptions) {
    super();
    this.logger = options.logger;
    this.writer = new SpoolWriter(options);
  }

  override get hasSpace(): boolean {
    return this.writer.state !== 'exhausted';
  }

  /** The name of this process's spool for the shipper. */
  get writerId(): string {
    return this.writer.id;
  }

  open(exchange: OpenedExchange): string | null {
    try {
      const frame = encodeOpened(exchange, this.writer.allocate);
      this.writer.append(frame);
      spoolCounts.opened += 1;
      return frame.json;
    } catch (error) {
      this.lost(exchange.id, error);
      return null;
    }
  }

  update({ id }: OpenedExchange, attempts: readonly AttemptRecord[], opened: string | null): void {
    if (opened === null) return;
    try {
      this.writer.append(encodeUpdated(opened, attempts, this.writer.allocate));
    } catch (error) {
      this.lost(id, error);
    }
  }

  close(record: RequestLogRecord, bodies: CapturedBodies, opened: string | null = null): void {
    try {
      this.writer.append(encodeClosed(record, bodies, opened, this.writer.allocate));
      spoolCounts.closed += 1;
    } catch (error) {
      this.lost(record.id, error);
    }
  }

  whenWritten(then: () => void): void {
    this.writer.whenWritten(then);
  }

  /** Await it at the end of the process, after the last exchange was closed. */
  shutdown(): Promise<void> {
    return this.writer.close();
  }

  /** Reached only by a record that cannot be written as JSON, which its types exclude. */
  private lost(id: string, error: unknown): void {
    spoolCounts.recordsDropped += 1;
    this.logger.error({ err: error, request_id: id }, 'A request log could not be written.');
  }
}
