import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Secret as TotpSecret, TOTP } from 'otpauth';
import { LessThan, type Repository } from 'typeorm';
import { SecretBox, type WrappedKey } from '../../common/crypto/envelope.js';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { Secret } from '../../common/settings/secret.js';
import { Organization } from '../tenancy/organization.entity.js';
import { RecoveryCode } from './recovery-code.entity.js';
import { UserCredential } from '../passwords/user-credential.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import type { SessionOwner } from '../sessions/sessions.service.js';

const ISSUER = 'Gatehouse';
const SECRET_BYTES = 20;
const PERIOD_SECONDS = 30;
/** The parameters that every authenticator app supports: https://github.com/google/google-authenticator/wiki/Key-Uri-Format */
const PARAMETERS = { issuer: ISSUER, algorithm: 'SHA1', digits: 6, period: PERIOD_SECONDS } as const;
/** One step before and after, for clock differences: https://www.rfc-editor.org/rfc/rfc6238#section-5.2 */
const WINDOW = 1;
const TOTP_CODE = /^\d{6}$/;
/** Authenticator apps show a code as two groups of three digits. */
const withoutSpaces = (code: string): string => code.replace(/\s/g, '');

const RECOVERY_CODES = 10;
const RECOVERY_BYTES = 10;

export interface EnrolledTotp {
  /** To enter manually, in base32. */
  readonly secret: string;
  /** For a QR code. */
  readonly uri: string;
}

export interface SecondFactorStatus {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  readonly recoveryCodesLeft: number;
}

/** The second factor besides the password: a code of an authenticator app, or a recovery code. */
@Injectable()
export class SecondFactorsService {
  constructor(
    @InjectRepository(UserCredential) private readonly credentials: Repository<UserCredential>,
    @InjectRepository(RecoveryCode) private readonly recoveryCodes: Repository<RecoveryCode>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly tokens: OpaqueTokens,
  ) {}

  async status({ id, organizationId }: SessionOwner): Promise<SecondFactorStatus> {
    const credential = await this.credentials.findOneBy({ userId: id });
    const recoveryCodesLeft = await this.recoveryCodes.countBy({ organizationId, userId: id });
    return {
      hasPassword: credential?.passwordHash != null,
      hasTotp: credential?.totpConfirmedAt != null,
      recoveryCodesLeft,
    };
  }

  /**
   * Refuses with `second_factor_required` if the user has an authenticator app and sent no code, and with `second_factor_failed` if the
   * code is wrong or was used before. Uses up the code.
   */
  async check(user: SessionOwner, code: string | undefined): Promise<void> {
    const credential = await this.credentials.findOneBy({ userId: user.id });
    if (credential?.totpConfirmedAt == null) return;
    if (code === undefined) throw new AppError('second_factor_required');
    const digits = withoutSpaces(code);
    const isRight = TOTP_CODE.test(digits)
      ? await this.useTotpCode(credential, digits)
      : await this.useRecoveryCode(user, code);
    if (!isRight) throw new AppError('second_factor_failed');
  }

  /**
   * Creates a secret, which takes effect once `confirm` has verified a code of it. Refuses with `conflict` while another one is in effect.
   */
  async enrol({ id: userId, organizationId }: SessionOwner, email: string): Promise<EnrolledTotp> {
    const secret = new TotpSecret({ size: SECRET_BYTES });
    const sealedTotp = this.box.sealText(
      await this.keyOf(organizationId),
      purposeOf({ userId, organizationId }),
      new Secret(secret.base32),
    );
    await this.credentials.upsert({ userId, organizationId }, ['userId']);
    const credential = await this.locked(userId);
    if (credential.totpConfirmedAt) throw enrolledAlready();
    await this.credentials.update({ userId }, { sealedTotp, totpLastStep: 0 });
    return { secret: secret.base32, uri: new TOTP({ ...PARAMETERS, label: email, secret }).toString() };
  }

  /** Returns recovery codes, which are shown only once. */
  async confirm(user: SessionOwner, code: string): Promise<readonly string[]> {
    const credential = await this.locked(user.id);
    if (credential.totpConfirmedAt) throw enrolledAlready();
    if (!credential.sealedTotp || !(await this.useTotpCode(credential, withoutSpaces(code))))
      throw new AppError('second_factor_failed');
    await this.credentials.update({ userId: user.id }, { totpConfirmedAt: new Date() });
    return this.renewRecoveryCodes(user);
  }

  /** Refuses with `conflict` without an authenticator app to recover from. */
  async renewRecoveryCodes(user: SessionOwner): Promise<readonly string[]> {
    const { hasTotp } = await this.status(user);
    if (!hasTotp) throw new AppError('conflict', { detail: 'You have no authenticator app. Add one first.' });
    const { id: userId, organizationId } = user;
    const codes = Array.from({ length: RECOVERY_CODES }, () => randomBytes(RECOVERY_BYTES).toString('hex'));
    await this.recoveryCodes.delete({ organizationId, userId });
    await this.recoveryCodes.insert(
      codes.map((code) => ({ codeHash: this.hashOf(userId, code), organizationId, userId })),
    );
    return codes.map((code) => code.match(/.{5}/g)?.join('-') ?? code);
  }

  async remove({ id: userId, organizationId }: SessionOwner): Promise<void> {
    await this.credentials.update({ userId }, { sealedTotp: null, totpConfirmedAt: null });
    await this.recoveryCodes.delete({ organizationId, userId });
  }

  /** A code can be used once: of two requests with the same code, only the first advances the step. */
  private async useTotpCode(credential: UserCredential, code: string): Promise<boolean> {
    const { userId, organizationId, sealedTotp } = credential;
    if (!sealedTotp) return false;
    const key = await this.keyOf(organizationId);
    const secret = TotpSecret.fromBase32(this.box.openText(key, purposeOf(credential), sealedTotp).reveal());
    const now = Date.now();
    const delta = new TOTP({ ...PARAMETERS, secret }).validate({
      token: code,
      timestamp: now,
      window: WINDOW,
    });
    if (delta === null) return false;
    const step = Math.floor(now / 1_000 / PERIOD_SECONDS) + delta;
    const { affected } = await this.credentials.update(
      { userId, totpLastStep: LessThan(step) },
      { totpLastStep: step },
    );
    return affected === 1;
  }

  private async useRecoveryCode(
    { id: userId, organizationId }: SessionOwner,
    code: string,
  ): Promise<boolean> {
    const typed = code.toLowerCase().replace(/[^0-9a-f]/g, '');
    const codeHash = this.hashOf(userId, typed);
    const { affected } = await this.recoveryCodes.delete({ organizationId, userId, codeHash });
    return affected === 1;
  }

  private async locked(userId: string): Promise<UserCredential> {
    const lock = { mode: 'pessimistic_write' } as const;
    const credential = await this.credentials.findOne({ where: { userId }, lock });
    if (!credential) throw new AppError('second_factor_failed');
    return credential;
  }

  private async keyOf(organizationId: string): Promise<WrappedKey> {
    const { wrappedKey } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped: wrappedKey };
  }

  private hashOf(userId: string, code: string): Buffer {
    return this.tokens.hashOf('recovery code', `${userId} ${code}`);
  }
}

const purposeOf = ({
  organizationId,
  userId,
}: Pick<UserCredential, 'organizationId' | 'userId'>): string[] => ['totp', organizationId, userId];

const enrolledAlready = (): AppError =>
  new AppError('conflict', { detail: 'You have an authenticator app already. Remove it first.' });
