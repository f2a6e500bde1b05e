import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { keysInSet, type StoredKey } from '../../auth/tokens/key-set.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { OrganizationJwt } from './organization-jwt.entity.js';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { PeopleService } from '../users/people.service.js';
import { OrganizationJwtDto, tokenRulesOf, type SetOrganizationJwtDto } from './organization-jwt.dto.js';
import { parseDestination } from '../../common/net/destination.js';
import { invalidField } from '../../common/errors/field-errors.js';

const OWNERS_ONLY = 'only an owner can change which signed tokens are accepted';

/**
 * The signed tokens that an organization accepts. Whoever sets their keys can sign one for any user, so only owners do, and tokens never
 * give more than that owner still has. Processes are notified of a change as of an organization change.
 */
@Injectable()
export class OrganizationJwtService {
  constructor(
    @InjectRepository(OrganizationJwt) private readonly jwtSettings: Repository<OrganizationJwt>,
    private readonly people: PeopleService,
    private readonly egress: Egress,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
  ) {}

  async get(organizationId: string): Promise<OrganizationJwt> {
    const row = await this.find(organizationId);
    if (!row) throw new AppError('not_found', { resource: 'JWT setting' });
    return row;
  }

  /**
   * Replaces the whole setting, and makes the caller its author. Replacing a different one needs `If-Match`, because tokens of its issuers
   * may be in use. Fetched keys are kept only if the URL is the same.
   */
  async set(caller: Principal, dto: SetOrganizationJwtDto): Promise<OrganizationJwt> {
    const { id: authorId, organizationId } = await this.people.ownerWithAllScopes(caller, OWNERS_ONLY);
    const before = await this.find(organizationId, true);
    const source = this.sourceOf(dto, before);
    if (before && !isSame(before, { issuers: dto.issuers, rules: tokenRulesOf(dto), ...source })) {
      const shown = OrganizationJwtDto.from(before);
      this.audit.requireCondition(shown, replacedBy(shown));
    }
    const saved = await this.save({
      organizationId,
      authorId,
      issuers: dto.issuers,
      rules: tokenRulesOf(dto),
      ...source,
    });
    this.audit.note({
      targetId: organizationId,
      workspaceId: null,
      ...(before ? { before: OrganizationJwtDto.from(before) } : {}),
      after: OrganizationJwtDto.from(saved),
    });
    await this.announce(organizationId);
    return saved;
  }

  /** From now on no token is accepted. */
  async remove(caller: Principal): Promise<void> {
    const { organizationId } = await this.people.ownerWithAllScopes(caller, OWNERS_ONLY);
    const row = await this.get(organizationId);
    await this.jwtSettings.delete({ organizationId });
    this.audit.note({ targetId: organizationId, workspaceId: null, before: OrganizationJwtDto.from(row) });
    await this.announce(organizationId);
  }

  private sourceOf({ jwks_uri: uri, jwks }: SetOrganizationJwtDto, before: OrganizationJwt | null) {
    if ((uri === undefined) === (jwks === undefined))
      throw new AppError('invalid_request', {
        detail: 'Send either "jwks_uri" or "jwks": the address of the keys, or the keys.',
      });
    if (uri === undefined)
      return { jwksUri: null, keys: givenKeys(jwks), fetchedAt: null, triedAt: null, problem: null };
    checkAddressOfKeys(uri, this.egress);
    if (before?.jwksUri === uri) return { jwksUri: uri };
    return { jwksUri: uri, keys: null, fetchedAt: null, triedAt: null, problem: null };
  }

  private find(organizationId: string, lock = false): Promise<OrganizationJwt | null> {
    return this.jwtSettings.findOne({
      where: { organizationId },
      ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
    });
  }

  private async save(row: Partial<OrganizationJwt> & { organizationId: string }): Promise<OrganizationJwt> {
    await this.jwtSettings.upsert(row, ['organizationId']);
    return this.get(row.organizationId);
  }

  private announce(organizationId: string): Promise<void> {
    return this.changes.publish({ resource: 'organization', id: organizationId });
  }
}

function givenKeys(jwks: object | undefined): StoredKey[] {
  const keys = keysInSet(jwks);
  if (typeof keys === 'string') throw invalidField('jwks', keys);
  return [...keys];
}

/** A repeated request replaces nothing. */
function isSame(before: OrganizationJwt, update: Partial<OrganizationJwt>): boolean {
  const stored = JSON.parse(JSON.stringify(update)) as Partial<OrganizationJwt>;
  return (
    before.jwksUri === stored.jwksUri &&
    isDeepStrictEqual(before.issuers, stored.issuers) &&
    isDeepStrictEqual({ allowsOwners: false, ...before.rules }, stored.rules) &&
    (before.jwksUri !== null || isDeepStrictEqual(before.keys, stored.keys))
  );
}

const replacedBy = ({ issuers, audiences, jwks_uri: uri }: OrganizationJwtDto): string =>
  `The set-up that accepts tokens of ${issuers.join(', ')} for ${audiences.join(', ')} with ${uri === null ? 'keys that were given' : `the keys of ${uri}`}`;

const QUERY = /^\?[\w\-.~!$&'()*+,;=:@/?%]*$/;
const ADDRESS = /^(\[.*\]|\d+\.\d+\.\d+\.\d+|localhost)$/;

/**
 * Checks the URL of the keys. Plain HTTP only to an address that the operator allowed: anyone on the network path could substitute keys.
 */
function checkAddressOfKeys(text: string, egress: Egress): void {
  const at = text.indexOf('?');
  const [base, query] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
  try {
    const url = parseDestination(base);
    if (query !== '' && !QUERY.test(query)) throw refused('its query has characters that a URL cannot have');
    if (url.protocol === 'http:' && !ADDRESS.test(url.hostname)) throw refused('it must be https');
    egress.checkDestination(url);
  } catch (error) {
    throw error instanceof AppError && error.code !== 'invalid_request' ? refused(detailOf(error)) : error;
  }
}

function detailOf({ code, details }: AppError): string {
  return code === 'custom_host_invalid'
    ? String(details['detail'])
    : 'the gateway may not call this address unless the operator allows it (GATEHOUSE_EGRESS_ALLOW)';
}

const refused = (detail: string): AppError => invalidField('jwks_uri', detail);
