import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A log of a call that was made elsewhere, on its way to the request log. */
@Entity('ingested_logs')
export class IngestedLog {
  /** That of the row which it will be. */
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
