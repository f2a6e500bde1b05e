import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The keyed hash of a token that can be used once. */
@Entity('used_tokens')
export class UsedToken {
  @PrimaryColumn({ type: 'bytea' })
  tokenHash: Buffer;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
