import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A log of a request made elsewhere, waiting to be stored in the request log. */
@Entity('ingested_logs')
export class IngestedLog {
  /** The id of the future row. */
  @PrimaryColumn({ type: 'uuid' })
  id: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  /** JSON of a closed frame: `ClosedExchange`. */
  @Column({ type: 'bytea' })
  closed: Buffer;

  @Column({ type: 'bytea' })
  requestBody: Buffer;

  @Column({ type: 'bytea' })
  responseBody: Buffer;
}
