import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TenantRecord } from '../../database/tenant-owned.entity.js';

/** A passkey of a user: https://www.w3.org/TR/webauthn-3/#credential-record */
@Entity('passkeys')
export class Passkey extends TenantRecord {
  @Column({ type: 'uuid' })
  userId: string;

  /** Name given by the user. */
  @Column({ type: 'text' })
  name: string;

  /** In base64url. */
  @Column({ type: 'text' })
  credentialId: string;

  /** In COSE. */
  @Column({ type: 'bytea' })
  publicKey: Buffer;

  /** The authenticator's signature counter; 0 if it does not count. The driver returns 64-bit numbers as text. */
  @Column({ type: 'bigint' })
  counter: string;

  @Column({ type: 'text', array: true })
  transports: string[];

  /** Whether it is synchronized between devices. */
  @Column({ type: 'boolean' })
  isBackedUp: boolean;

  @Column({ type: 'timestamptz', nullable: true })
  lastUsedAt: Date | null;
}

/** A used challenge. It is not accepted again. */
@Entity('used_passkey_challenges')
export class UsedPasskeyChallenge {
  @PrimaryColumn({ type: 'bytea' })
  challenge: Buffer;

  @Column({ type: 'timestamptz' })
  expiresAt: Date;
}
