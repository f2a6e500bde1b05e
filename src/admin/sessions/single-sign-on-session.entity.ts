import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A dashboard session's data at the provider. */
@Entity('single_sign_on_sessions')
export class SingleSignOnSession {
  @PrimaryColumn({ type: 'uuid' })
  sessionId: string;

  @Column({ type: 'uuid' })
  organizationId: string;

  @Column({ type: 'uuid' })
  providerId: string;

  @Column({ type: 'text' })
  subject: string;

  /** The claim `sid`; null if the provider sends none. */
  @Column({ type: 'text', nullable: true })
  providerSessionId: string | null;

  @Column({ type: 'bytea' })
  sealedIdToken: Buffer;

  /** Null if the provider has no sign-out. */
  @Column({ type: 'text', nullable: true })
  endSessionEndpoint: string | null;
}
