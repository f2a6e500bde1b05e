import { Column, Entity, PrimaryColumn } from 'typeorm';

/** How users of an organization may sign in. Without a row: in every way. */
@Entity('sign_in_policies')
export class SignInPolicy {
  @PrimaryColumn({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'boolean' })
  isSingleSignOnRequired: boolean;

  /** Owners who may still sign in with a password or passkey. */
  @Column({ type: 'uuid', array: true })
  breakGlassUserIds: string[];
}

/** A token that counts once, by its keyed hash. */
@Entity('used_tokens')
export class UsedToken {
  @PrimaryColumn({ type: 'bytea' })
  tokenHash: Buffer;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
