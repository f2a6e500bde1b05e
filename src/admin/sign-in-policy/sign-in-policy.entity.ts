import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The allowed sign-in methods of an organization. Without a row: all of them. */
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
