import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { checkIssuer } from '../openid-connect/check-issuer.js';
import type { DirectoryRules } from '../openid-connect/directory-rules.js';
import { domainsOf } from './domains-and-scopes.js';
import {
  type CreateIdentityProviderDto,
  IdentityProviderDto,
  directoryRulesOf,
  scopesOf,
  type UpdateIdentityProviderDto,
} from './identity-provider.dto.js';
import { LinkedAccountsService } from './linked-accounts.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { LockoutCheckService } from '../sign-in-settings/lockout-check.service.js';

const MOST_PROVIDERS = 20;

/** The identity providers of an organization. */
@Injectable()
export class IdentityProvidersService {
  constructor(
    @InjectRepository(IdentityProvider) private readonly providers: Repository<IdentityProvider>,
    private readonly saved: SavedProviders,
    private readonly accounts: LinkedAccountsService,
    private readonly lockout: LockoutCheckService,
    private readonly people: PeopleService,
    private readonly egress: Egress,
    private readonly audit: AuditTrail,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async create(caller: Principal, dto: CreateIdentityProviderDto): Promise<IdentityProviderDto> {
    const { organizationId } = caller;
    await this.people.lockMemberships(organizationId);
    await this.people.checkMayChangeSignIn(caller);
    if ((await this.providers.countBy({ organizationId })) >= MOST_PROVIDERS)
      throw new AppError('conflict', {
        detail: `An organization has at most ${MOST_PROVIDERS} identity providers.`,
      });
    checkIssuer(dto.issuer, this.egress);
    const { name, issuer, client_id: clientId, enabled: isEnabled = true } = dto;
    const id = dto.id?.toLowerCase() ?? uuidV7(Date.now());
    const inserted = await this.unitOfWork.insertUnlessTaken(IdentityProvider, [
      {
        ...{ id, organizationId, name, issuer, clientId, isEnabled },
        sealedClientSecret: await this.saved.sealed({ id, organizationId, issuer }, dto.client_secret),
        scopes: scopesOf(dto),
        domains: domainsOf(dto.domains ?? []),
        rules: directoryRulesOf(dto),
      },
    ]);
    if (inserted === 0)
      throw new AppError('conflict', {
        detail: 'An identity provider with this "id" exists already. Leave "id" out, or reserve another one.',
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
    return this.shown(await this.saved.find(organizationId, id));
  }

  /** A change of issuer or client changes the users' accounts: they are linked again by email address. */
  async update(caller: Principal, id: string, dto: UpdateIdentityProviderDto): Promise<IdentityProviderDto> {
    await this.people.lockMemberships(caller.organizationId);
    const row = await this.saved.find(caller.organizationId, id);
    await this.people.checkMayChangeSignIn(caller);
    const before = this.shown(row);
    const isOther =
      (dto.issuer ?? row.issuer) !== row.issuer || (dto.client_id ?? row.clientId) !== row.clientId;
    if (dto.issuer !== undefined && dto.issuer !== row.issuer) checkIssuer(dto.issuer, this.egress);
    Object.assign(row, await this.changed(row, dto));
    await this.providers.save(row);
    if (!row.isEnabled) await this.lockout.checkProviderLeft(row.organizationId);
    if (isOther) await this.accounts.unlinkAllOf(row);
    else if (!row.isEnabled) await this.accounts.signOutAllOf(row);
    const after = this.shown(await this.providers.findOneByOrFail({ id: row.id }));
    this.audit.note({ targetId: row.id, workspaceId: null, before, after });
    return after;
  }

  /** Ends the sessions that it opened. */
  async remove(caller: Principal, id: string): Promise<void> {
    await this.people.lockMemberships(caller.organizationId);
    const row = await this.saved.find(caller.organizationId, id);
    await this.people.checkMayChangeSignIn(caller);
    this.audit.note({ targetId: row.id, workspaceId: null, before: this.shown(row) });
    await this.accounts.signOutAllOf(row);
    await this.providers.delete({ id: row.id });
    await this.lockout.checkProviderLeft(row.organizationId);
  }

  private async changed(
    row: IdentityProvider,
    dto: UpdateIdentityProviderDto,
  ): Promise<Partial<IdentityProvider>> {
    const { issuer = row.issuer, client_secret: secret } = dto;
    if (issuer !== row.issuer && secret === undefined)
      throw new AppError('invalid_request', {
        detail: 'A change of issuer needs the client secret again. Send it in the field "client_secret".',
      });
    const place = { id: row.id, organizationId: row.organizationId, issuer };
    return {
      issuer,
      name: dto.name ?? row.name,
      clientId: dto.client_id ?? row.clientId,
      scopes: dto.scopes ?? row.scopes,
      domains: dto.domains ? domainsOf(dto.domains) : row.domains,
      isEnabled: dto.enabled ?? row.isEnabled,
      rules: directoryRulesOf(dto, row.rules as DirectoryRules),
      ...(secret === undefined ? {} : { sealedClientSecret: await this.saved.sealed(place, secret) }),
    };
  }

  private shown(row: IdentityProvider): IdentityProviderDto {
    return IdentityProviderDto.from(row, this.saved.addresses);
  }
}
