import { Column, CreateDateColumn, Entity, PrimaryColumn, UpdateDateColumn } from 'typeorm';

/** A user's sign-in credentials. A user without a row cannot sign in to the dashboard. */
@Entity('user_credentials')
export class UserCredential {
  @PrimaryColumn({ type: 'uuid' })
  userId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  /** As written by `hashPassword`; null for a user without a password. */
  @Column({ type: 'text', nullable: true })
  passwordHash: string | null;

  @Column({ type: 'timestamptz', nullable: true })
  passwordChangedAt: Date | null;

  /** The secret of the authenticator app, sealed with the organization's key. */
  @Column({ type: 'bytea', nullable: true })
  sealedTotp: Buffer | null;

  /** Null until a code of it was verified; from then on sign-ins require one. */
  @Column({ type: 'timestamptz', nullable: true })
  totpConfirmedAt: Date | null;

  /** The time step of the last code used. */
  @Column({ type: 'integer', default: 0 })
  totpLastStep: number;

  @CreateDateColumn({ type: 'timestamptz' })
  createdAt: Date;

  @UpdateDateColumn({ type: 'timestamptz' })
  updatedAt: Date;
}
