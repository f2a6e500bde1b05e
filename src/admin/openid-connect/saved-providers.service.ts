import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ArrayContains, type Repository } from 'typeorm';
import { SecretBox, type WrappedKey } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { baseUrl } from '../../common/settings/base-url.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { OpenedProvider } from './provider-client.service.js';

const MOST_FOUND = 10;
const ROOT = '/v1/auth/single-sign-on';
/** Path below the address of the service. */
export const SIGN_IN_PAGE = '/ui/sign-in';

/** The addresses of this service that providers and browsers use. */
export interface SignOnAddresses {
  readonly callback: (providerId: string) => string;
  readonly logout: string;
  readonly signIn: string;
  readonly start: (providerId: string) => string;
}

/** Reads identity providers and their secrets, for every sign-in. Read-only. */
@Injectable()
export class SavedProviders {
  constructor(
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  get addresses(): SignOnAddresses {
    const own = baseUrl(this.settings, this.settings.port);
    const root = own + ROOT;
    return {
      callback: (providerId) => `${root}/callback/${providerId}`,
      signIn: new URL(SIGN_IN_PAGE, own).href,
      logout: `${root}/back-channel-logout`,
      start: (providerId) => `${root}/start?provider=${providerId}`,
    };
  }

  /** Another organization's provider is "not found", like one that never existed. */
  async find(organizationId: string, id: string): Promise<IdentityProvider> {
    const row = isUuid(id) ? await this.providers.findOneBy({ organizationId, id: id.toLowerCase() }) : null;
    if (!row) throw new AppError('not_found', { resource: 'identity provider' });
    return row;
  }

  /** Those that sign in users of an email address, oldest first, with the names of their organizations. */
  async forAddress(email: string): Promise<readonly { row: IdentityProvider; organization: string }[]> {
    const domain = normalizeEmail(email)?.split('@')[1];
    if (domain === undefined) return [];
    const rows = await this.providers.find({
      where: { isEnabled: true, domains: ArrayContains([domain]) },
      order: { createdAt: 'ASC', id: 'ASC' },
      take: MOST_FOUND,
    });
    return Promise.all(
      rows.map(async (row) => {
        const { name } = await this.organizations.findOneByOrFail({ id: row.organizationId });
        return { row, organization: name };
      }),
    );
  }

  /** An enabled provider of any organization. Refuses with `not_found`. */
  async usable(id: string): Promise<IdentityProvider> {
    const row = isUuid(id) ? await this.providers.findOneBy({ id: id.toLowerCase(), isEnabled: true }) : null;
    if (!row) throw new AppError('not_found', { resource: 'identity provider' });
    return row;
  }

  /** Whether a provider of any organization has this id. */
  isSaved(id: string): Promise<boolean> {
    return this.providers.existsBy({ id });
  }

  /** Possible senders of a logout token. */
  issuedBy(issuer: string, clientIds: readonly string[]): Promise<IdentityProvider[]> {
    return this.providers.findBy(clientIds.map((clientId) => ({ issuer, clientId, isEnabled: true })));
  }

  async opened(row: IdentityProvider): Promise<OpenedProvider> {
    const { organizationId, issuer, clientId, scopes } = row;
    const key = await this.keyOf(organizationId);
    const clientSecret = this.box.openText(key, purposeOf(row), row.sealedClientSecret);
    return { organizationId, issuer, clientId, scopes, clientSecret };
  }

  async sealed(place: SecretOwner, secret: string): Promise<Buffer> {
    return this.box.sealText(await this.keyOf(place.organizationId), purposeOf(place), new Secret(secret));
  }

  private async keyOf(organizationId: string): Promise<WrappedKey> {
    const { wrappedKey } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped: wrappedKey };
  }
}

type SecretOwner = Pick<IdentityProvider, 'id' | 'organizationId' | 'issuer'>;

/** A secret is only sent to the issuer that it was entered for. */
const purposeOf = ({ organizationId, id, issuer }: SecretOwner): string[] => [
  'identity provider secret',
  organizationId,
  id,
  issuer,
];
