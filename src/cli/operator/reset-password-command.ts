import { issueSignInLink, signInLink } from '../../common/crypto/sign-in-link.js';
import { Passkey } from '../../admin/passkeys/passkey.entity.js';
import { RecoveryCode } from '../../admin/second-factors/recovery-code.entity.js';
import { UserCredential } from '../../admin/passwords/user-credential.entity.js';
import { SignInLink } from '../../admin/passwords/sign-in-link.entity.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { asOperator, findActiveUser, type OperatorSession } from './operator-session.js';

export interface ResetPasswordOptions extends JsonOption {
  /** Needed if users of several organizations have the address. */
  readonly organization?: string;
  /** For a user who lost the authenticator app, the recovery codes or the device with the passkeys. */
  readonly removeSecondFactors?: boolean;
}

/** `gatehouse user reset-password <email>`. Returns the exit code. */
export async function resetPasswordCommand(
  environment: NodeJS.ProcessEnv,
  email: string,
  options: ResetPasswordOptions,
): Promise<number> {
  const { link, expiresAt } = await asOperator(environment, (session) =>
    newResetLink(session, email, options),
  );
  const output = new CommandOutput(options);
  const meaning = 'It sets a password and ends all sessions of the user.';
  if (options.json) output.result({ link, expires_at: expiresAt.toISOString() });
  else output.say(`${link}\nThe link works once, until ${expiresAt.toISOString()}. ${meaning}`);
  return 0;
}

/** Replaces the user's open link. The current password stays valid until the link is used. */
export async function newResetLink(
  { manager, keyPepper, baseUrl, record }: OperatorSession,
  email: string,
  { organization, removeSecondFactors }: ResetPasswordOptions,
): Promise<{ readonly link: string; readonly expiresAt: Date }> {
  const user = await findActiveUser(manager, { email, organization });
  const { token, stored } = issueSignInLink(keyPepper, user, 'reset');
  await manager.delete(SignInLink, { userId: user.id });
  await manager.insert(SignInLink, stored);
  if (removeSecondFactors) {
    await manager.update(UserCredential, { userId: user.id }, { sealedTotp: null, totpConfirmedAt: null });
    await manager.delete(RecoveryCode, { userId: user.id });
    await manager.delete(Passkey, { userId: user.id });
  }
  record({
    organizationId: user.organizationId,
    action: 'sign_in_links.create',
    targetId: user.id,
    command: 'gatehouse user reset-password',
  });
  return { link: signInLink(baseUrl, token.reveal()), expiresAt: stored.expiresAt };
}
