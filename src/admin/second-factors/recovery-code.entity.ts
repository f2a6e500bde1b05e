import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A code that replaces an authenticator app's code once. Using it deletes the row. */
@Entity('recovery_codes')
export class RecoveryCode {
  @PrimaryColumn({ type: 'bytea' })
  codeHash: Buffer;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  userId: string;
}
