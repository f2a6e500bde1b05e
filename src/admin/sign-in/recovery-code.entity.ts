import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A code that stands in for an authenticator app, once. The row goes with its use. */
@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ type: 'bytea' })
  codeHash: Buffer;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  userId: string;
}
