import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { ArrayContains, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { SecretBox, type WrappedKey } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/crypto/secret.js';
import { IdentityProvider, UserIdentity } from '../../common/database/entities/identity-provider.entity.js';
import { Organization } from '../../common/database/entities/organization.entity.js';
import { Egress } from '../../common/egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { baseUrl } from '../../common/settings/base-url.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SignInPolicyService } from '../sign-in/sign-in-policy.service.js';
import { PeopleService } from '../users/people.service.js';
import { checkIssuer } from './check-issuer.js';
import type { DirectoryRules } from './directory-rules.js';
import {
  type CreateIdentityProviderDto,
  domainsOf,
  IdentityProviderDto,
  rulesOf,
  scopesOf,
  type SignOnAddresses,
  type UpdateIdentityProviderDto,
} from './identity-provider.dto.js';
import type { OpenedProvider } from './provider-client.service.js';
import { ProviderSessionsService } from './provider-sessions.service.js';

const MOST_PROVIDERS = 20;
const MOST_FOUND = 10;
const ROOT = '/v1/auth/single-sign-on';

/** The identity providers of an organization. */
@Injectable()
export class IdentityProvidersService {
  constructor(
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
    @InjectRepository(UserIdentity) private readonly identities: Repository<UserIdentity>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly egress: Egress,
    private readonly people: PeopleService,
    private readonly policy: SignInPolicyService,
    private readonly providerSessions: ProviderSessionsService,
    private readonly audit: AuditTrail,
    @Inject(SETTINGS) private readonly settings: Settings,
  ) {}

  get addresses(): SignOnAddresses {
    const root = baseUrl(this.settings, this.settings.port) + ROOT;
    return {
      callback: `${root}/callback`,
      logout: `${root}/back-channel-logout`,
      start: (providerId) => `${root}/start?provider=${providerId}`,
    };
  }

  /** Who decides where users sign in can sign in as every one of them, so only owners do. */
  async checkOwner(caller: Principal): Promise<void> {
    const { role } = await this.people.actor(caller);
    if (role !== 'owner')
      throw new AppError('forbidden', { detail: 'only an owner changes how users sign in' });
  }

  async create(caller: Principal, dto: CreateIdentityProviderDto): Promise<IdentityProviderDto> {
    const { organizationId } = caller;
    await this.people.takeTurn(organizationId);
    await this.checkOwner(caller);
    if ((await this.providers.countBy({ organizationId })) >= MOST_PROVIDERS)
      throw new AppError('conflict', {
        detail: `An organization has at most ${MOST_PROVIDERS} identity providers.`,
      });
    checkIssuer(dto.issuer, this.egress);
    const { name, issuer, client_id: clientId, enabled: isEnabled = true } = dto;
    const id = uuidV7(Date.now());
    await this.providers.insert({
      ...{ id, organizationId, name, issuer, clientId, isEnabled },
      sealedClientSecret: await this.sealed({ id, organizationId, issuer }, dto.client_secret),
      scopes: scopesOf(dto),
      domains: domainsOf(dto.domains ?? []),
      rules: rulesOf(dto),
    });
    const after = this.shown(await this.providers.findOneByOrFail({ id }));
    this.audit.note({ targetId: id, workspaceId: null, after });
    return after;
  }

  /** Newest first. */
  async list(organizationId: string): Promise<IdentityProviderDto[]> {
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    const rows = await this.providers.find({ where: { organizationId }, order });
    return rows.map((row) => this.shown(row));
  }

  async get(organizationId: string, id: string): Promise<IdentityProviderDto> {
    return this.shown(await this.find(organizationId, id));
  }

  /** With another issuer or client the accounts of users are others, too: they are linked anew by their addresses. */
  async update(caller: Principal, id: string, dto: UpdateIdentityProviderDto): Promise<IdentityProviderDto> {
    await this.people.takeTurn(caller.organizationId);
    const row = await this.find(caller.organizationId, id);
    await this.checkOwner(caller);
    const before = this.shown(row);
    const isOther =
      (dto.issuer ?? row.issuer) !== row.issuer || (dto.client_id ?? row.clientId) !== row.clientId;
    if (dto.issuer !== undefined && dto.issuer !== row.issuer) checkIssuer(dto.issuer, this.egress);
    Object.assign(row, await this.changed(row, dto));
    await this.providers.save(row);
    if (!row.isEnabled) await this.checkNotLast(row);
    if (isOther) await this.identities.delete({ providerId: row.id });
    if (isOther || !row.isEnabled) await this.providerSessions.endAllOf(row);
    const after = this.shown(await this.providers.findOneByOrFail({ id: row.id }));
    this.audit.note({ targetId: row.id, workspaceId: null, before, after });
    return after;
  }

  /** Ends the sessions that came from it. */
  async remove(caller: Principal, id: string): Promise<void> {
    await this.people.takeTurn(caller.organizationId);
    const row = await this.find(caller.organizationId, id);
    await this.checkOwner(caller);
    this.audit.note({ targetId: row.id, workspaceId: null, before: this.shown(row) });
    await this.providerSessions.endAllOf(row);
    await this.providers.delete({ id: row.id });
    await this.checkNotLast(row);
  }

  /** Lets a user be linked to another account of the provider. */
  async unlink(caller: Principal, id: string, userId: string): Promise<void> {
    const { id: providerId } = await this.find(caller.organizationId, id);
    await this.checkOwner(caller);
    const user = await this.people.find(caller.organizationId, userId);
    const { affected } = await this.identities.delete({ providerId, userId: user.id });
    if (!affected) throw new AppError('not_found', { resource: 'account of this user' });
    this.audit.note({ targetId: user.id, workspaceId: null });
  }

  /** Those at which users of an address sign in, oldest first, with the names of their organizations. */
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

  /** One that users may sign in at now, whoever's it is. Refuses with `not_found`. */
  async usable(id: string): Promise<IdentityProvider> {
    const row = isUuid(id) ? await this.providers.findOneBy({ id: id.toLowerCase(), isEnabled: true }) : null;
    if (!row) throw new AppError('not_found', { resource: 'identity provider' });
    return row;
  }

  /** Those that a logout token may be from. */
  issuedBy(issuer: string, clientIds: readonly string[]): Promise<IdentityProvider[]> {
    return this.providers.findBy(clientIds.map((clientId) => ({ issuer, clientId, isEnabled: true })));
  }

  async opened(row: IdentityProvider): Promise<OpenedProvider> {
    const { organizationId, issuer, clientId, scopes } = row;
    const key = await this.keyOf(organizationId);
    const clientSecret = this.box.openText(key, purposeOf(row), row.sealedClientSecret);
    return { organizationId, issuer, clientId, scopes, clientSecret };
  }

  async find(organizationId: string, id: string): Promise<IdentityProvider> {
    const row = isUuid(id) ? await this.providers.findOneBy({ organizationId, id: id.toLowerCase() }) : null;
    if (!row) throw new AppError('not_found', { resource: 'identity provider' });
    return row;
  }

  async keyOf(organizationId: string): Promise<WrappedKey> {
    const { wrappedKey } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped: wrappedKey };
  }

  private async changed(
    row: IdentityProvider,
    dto: UpdateIdentityProviderDto,
  ): Promise<Partial<IdentityProvider>> {
    const { issuer = row.issuer, client_secret: secret } = dto;
    if (issuer !== row.issuer && secret === undefined)
      throw new AppError('invalid_request', {
        detail: 'Another issuer needs the field "client_secret" again.',
      });
    const place = { id: row.id, organizationId: row.organizationId, issuer };
    return {
      issuer,
      name: dto.name ?? row.name,
      clientId: dto.client_id ?? row.clientId,
      scopes: dto.scopes ?? row.scopes,
      domains: dto.domains ? domainsOf(dto.domains) : row.domains,
      isEnabled: dto.enabled ?? row.isEnabled,
      rules: rulesOf(dto, row.rules as DirectoryRules),
      ...(secret === undefined ? {} : { sealedClientSecret: await this.sealed(place, secret) }),
    };
  }

  private async checkNotLast({ organizationId }: IdentityProvider): Promise<void> {
    const policy = await this.policy.find(organizationId);
    if (!policy?.isSingleSignOnRequired) return;
    if ((await this.providers.countBy({ organizationId, isEnabled: true })) === 0)
      throw new AppError('conflict', {
        detail: 'The organization requires single sign-on, and this is its last enabled identity provider.',
      });
  }

  private async sealed(place: Place, secret: string): Promise<Buffer> {
    return this.box.sealText(await this.keyOf(place.organizationId), purposeOf(place), new Secret(secret));
  }

  private shown(row: IdentityProvider): IdentityProviderDto {
    return IdentityProviderDto.from(row, this.addresses);
  }
}

type Place = Pick<IdentityProvider, 'id' | 'organizationId' | 'issuer'>;

/** A secret goes to the issuer that it was entered for and to no other. */
const purposeOf = ({ organizationId, id, issuer }: Place): string[] => [
  'identity provider secret',
  organizationId,
  id,
  issuer,
];
