import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import ipaddr from 'ipaddr.js';
import type { Repository } from 'typeorm';
import type { KnownSession } from '../../auth/ports.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { User } from '../tenancy/user.entity.js';
import { Passkey } from './passkey.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { localUrl } from '../../common/settings/base-url.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PasskeyChallenges } from './passkey-challenges.service.js';

const NAME_OF_SERVICE = 'Gatehouse';
const MOST_PASSKEYS = 20;

/** A large package, loaded only by processes that use passkeys. */
const webAuthn = () => import('@simplewebauthn/server');

interface RelyingParty {
  readonly id: string;
  readonly origin: string;
}

/** Passkeys of users, which prove identity and, by fingerprint or PIN, presence. */
@Injectable()
export class PasskeysService {
  constructor(
    @InjectRepository(Passkey) private readonly passkeys: Repository<Passkey>,
    private readonly challenges: PasskeyChallenges,
    @InjectRepository(User) private readonly users: Repository<User>,
    private readonly unitOfWork: UnitOfWork,
    private readonly audit: AuditTrail,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  /** Options for the browser to create a passkey. Refuses with `passkeys_unavailable` when the service has no host name. */
  async creationOptions(session: KnownSession): Promise<PublicKeyCredentialCreationOptionsJSON> {
    const { generateRegistrationOptions } = await webAuthn();
    const known = await this.list(session);
    return generateRegistrationOptions({
      rpName: NAME_OF_SERVICE,
      rpID: this.relyingParty().id,
      userName: session.principal.name,
      userID: Buffer.from(session.userId),
      challenge: new Uint8Array(this.challenges.issue(`add ${session.userId}`)),
      excludeCredentials: known.map(({ credentialId: id, transports }) => ({ id, transports })),
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
    });
  }

  /** Options for the browser to present one. */
  async requestOptions(): Promise<PublicKeyCredentialRequestOptionsJSON> {
    const { generateAuthenticationOptions } = await webAuthn();
    return generateAuthenticationOptions({
      rpID: this.relyingParty().id,
      challenge: new Uint8Array(this.challenges.issue('use')),
      userVerification: 'required',
    });
  }

  async add(session: KnownSession, name: string, response: object): Promise<Passkey> {
    const { organizationId, userId } = session;
    if ((await this.passkeys.countBy({ organizationId, userId })) >= MOST_PASSKEYS)
      throw new AppError('conflict', { detail: `You have ${MOST_PASSKEYS} passkeys. Delete one first.` });
    const { credential, credentialBackedUp } = await this.verifyNew(
      session,
      response as RegistrationResponseJSON,
    );
    const id = uuidV7(Date.now());
    const inserted = await this.unitOfWork.insertUnlessTaken(Passkey, {
      ...{ id, organizationId, userId, name },
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey),
      counter: String(credential.counter),
      transports: [...(credential.transports ?? [])],
      isBackedUp: credentialBackedUp,
    });
    if (inserted === 0)
      throw new AppError('conflict', { detail: 'This passkey is already added. Use another one.' });
    return this.passkeys.findOneByOrFail({ id });
  }

  /** The passkey that was presented. Refuses with `passkey_failed` one that is unknown, does not match, or was copied. */
  async use(response: object): Promise<Passkey> {
    const shown = response as AuthenticationResponseJSON;
    const passkey =
      typeof shown.id === 'string' ? await this.passkeys.findOneBy({ credentialId: shown.id }) : null;
    if (!passkey) throw new AppError('passkey_failed');
    const { newCounter, challenge } = await this.verifyShown(shown, passkey).catch((error: unknown) =>
      this.refuseKnown(passkey, 'signature', error),
    );
    await this.challenges.use(challenge);
    const { affected } = hasAdvanced(Number(passkey.counter), newCounter)
      ? await this.passkeys.update(
          { id: passkey.id, counter: passkey.counter },
          { counter: String(newCounter), lastUsedAt: new Date() },
        )
      : { affected: 0 };
    if (!affected) return this.refuseKnown(passkey, 'counter', new AppError('passkey_failed'));
    return passkey;
  }

  /** For the audit record: a forged signature, or a counter that shows a copy, concerns the user of the passkey. */
  private async refuseKnown(
    { id, userId }: Passkey,
    failed: 'signature' | 'counter',
    error: unknown,
  ): Promise<never> {
    const user = await this.users.findOneBy({ id: userId });
    if (user) this.audit.suspect(user, { targetId: id, after: { passkey_id: id, failed_check: failed } });
    throw error;
  }

  /** Newest first. */
  list({ organizationId, userId }: KnownSession): Promise<Passkey[]> {
    return this.passkeys.find({
      where: { organizationId, userId },
      order: { createdAt: 'DESC', id: 'DESC' },
    });
  }

  async remove({ organizationId, userId }: KnownSession, id: string): Promise<void> {
    this.audit.note({ targetId: id });
    const { affected } = isUuid(id)
      ? await this.passkeys.delete({ organizationId, userId, id: id.toLowerCase() })
      : { affected: 0 };
    if (!affected) throw new AppError('not_found', { resource: 'passkey' });
  }

  private async verifyNew({ userId }: KnownSession, response: RegistrationResponseJSON) {
    const { verifyRegistrationResponse } = await webAuthn();
    const { id, origin } = this.relyingParty();
    let signed = '';
    const { registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: (challenge) => this.challenges.isOurs(`add ${userId}`, (signed = challenge)),
      expectedOrigin: origin,
      expectedRPID: id,
    }).catch(refused);
    if (!registrationInfo) throw new AppError('passkey_failed');
    await this.challenges.use(signed);
    return registrationInfo;
  }

  private async verifyShown(response: AuthenticationResponseJSON, passkey: Passkey) {
    const { verifyAuthenticationResponse } = await webAuthn();
    const { id, origin } = this.relyingParty();
    let challenge = '';
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: (signed) => this.challenges.isOurs('use', (challenge = signed)),
      expectedOrigin: origin,
      expectedRPID: id,
      credential: {
        id: passkey.credentialId,
        publicKey: new Uint8Array(passkey.publicKey),
        // The library would not say which check failed. `use` compares the counter.
        counter: 0,
      },
    }).catch(refused);
    if (!verified) throw new AppError('passkey_failed');
    return { newCounter: authenticationInfo.newCounter, challenge };
  }

  /** From the settings and never from a request. Browsers accept a host name, not an IP address. */
  private relyingParty(): RelyingParty {
    const { publicUrl } = this.settings;
    if (publicUrl === undefined)
      return {
        id: 'localhost',
        origin: localUrl({ ...this.settings, host: 'localhost' }, this.settings.port),
      };
    const { hostname, origin } = new URL(publicUrl);
    if (ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''))) throw new AppError('passkeys_unavailable');
    return { id: hostname, origin };
  }
}

/**
 * Two responses with the same counter mean that one comes from a copy. Authenticators that do not count send 0:
 * https://www.w3.org/TR/webauthn-3/#sctn-sign-counter
 */
const hasAdvanced = (before: number, now: number): boolean => (before === 0 && now === 0) || now > before;

/** The library names the mismatch; the client does not see it, because it could help a forger. */
function refused(cause: unknown): never {
  throw new AppError('passkey_failed', {}, { cause });
}
