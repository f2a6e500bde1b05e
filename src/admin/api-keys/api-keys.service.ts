import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import type { Scope } from '../../auth/scopes.js';
import { reachOf } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import { ApiKeyIssuer } from '../../common/crypto/api-key-issuer.js';
import type { Secret } from '../../common/settings/secret.js';
import type { ApiKeyType } from '../../common/contracts/api-key-type.js';
import { ApiKey } from './api-key.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { LimitsService } from '../limits/limits.service.js';
import type { CreateApiKeyDto, UpdateApiKeyDto } from './api-key-bodies.dto.js';
import { ApiKeyDto } from './api-key.dto.js';
import { KINDS, type KeyVerb, scopeOf } from './api-key-kinds.js';
import { checkGrant, readScopes } from './grants.js';
import { KeyAuthorityService } from './key-authority.service.js';
import { KeyBoundsService } from './key-bounds.service.js';
import { KeyDefaultsService } from './key-defaults.service.js';
import { ownKeysOf } from './key-list.service.js';

/** The tenant and owner of a new key. */
export interface PlaceOfKey {
  readonly kind: ApiKeyType;
  readonly workspaceId: string | null;
  readonly userId: string | null;
}

/** A key with its secret, which only the response to the current request may show. */
export interface ApiKeyWithSecret {
  readonly key: ApiKey;
  readonly secret: Secret;
}

const NO_DEFAULTS = {
  defaultMetadata: null,
  defaultConfigId: null,
  allowConfigOverride: true,
  alertEmails: null,
} as const;

@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly apiKeys: Repository<ApiKey>,
    private readonly issuer: ApiKeyIssuer,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly limits: LimitsService,
    private readonly defaults: KeyDefaultsService,
    private readonly authority: KeyAuthorityService,
    private readonly bounds: KeyBoundsService,
  ) {}

  async create(caller: Principal, place: PlaceOfKey, dto: CreateApiKeyDto): Promise<ApiKeyWithSecret> {
    const scopes = readScopes(dto.scopes, place.kind);
    checkGrant(caller, scopes);
    await this.bounds.check(caller, 'create keys');
    const createdByUserId = this.authority.userOf(caller);
    const { secret, stored } = this.issuer.issue(KINDS[place.kind].format);
    const key = this.apiKeys.create({
      id: uuidV7(Date.now()),
      ...place,
      organizationId: caller.organizationId,
      createdByKeyId: caller.apiKeyId,
      createdByUserId,
      creationMode: 'api',
      name: dto.name,
      description: dto.description ?? null,
      scopes,
      expiresAt: momentOf(dto.expires_at) ?? null,
      rateLimits: this.limits.rates(dto.rate_limits ?? null, null),
      usageLimits: this.limits.budgets(dto.usage_limits ?? null, null),
      previousKeyHash: null,
      previousKeyExpiresAt: null,
      status: 'active',
      ...NO_DEFAULTS,
      ...(await this.defaults.columnsOf(place, caller.organizationId, dto)),
      ...stored,
    });
    await this.apiKeys.insert(key);
    this.audit.note({ targetId: key.id, workspaceId: key.workspaceId, after: ApiKeyDto.from(key) });
    await this.changes.publish({ resource: 'api_key', id: key.id });
    return { key, secret };
  }

  async get(caller: Principal, id: string): Promise<ApiKey> {
    return this.find(caller, id, 'read');
  }

  async update(caller: Principal, id: string, dto: UpdateApiKeyDto): Promise<void> {
    const key = await this.lock(caller, id, 'update');
    await this.authority.checkMayChange(caller, key);
    const before = ApiKeyDto.from(key);
    checkNotOwn(caller, key, dto);
    if (changesBounds(dto)) await this.bounds.check(caller, 'change the limits, expiry or defaults of keys');
    if (dto.name !== undefined) key.name = dto.name;
    if (dto.description !== undefined) key.description = dto.description;
    if (dto.expires_at !== undefined) key.expiresAt = momentOf(dto.expires_at) ?? null;
    if (changesLimits(dto)) await this.changeLimits(key, dto);
    Object.assign(key, await this.defaults.columnsOf(key, key.organizationId, dto));
    if (dto.scopes !== undefined) key.scopes = this.replacedScopes(caller, key, dto.scopes);
    await this.saveChange(key, before);
  }

  /**
   * Replaces the secret; the old one works for `overlapMs` longer. A key has two secrets at most, so while the one before still
   * works, only an `overlapMs` of 0, which ends both, is accepted: else `conflict`. A caller that rotates a key gets its secret and
   * therefore needs every scope of the key, and at least the rank of the user on whose authority the key acts.
   */
  async rotate(
    caller: Principal,
    id: string,
    overlapMs: number,
  ): Promise<ApiKeyWithSecret & { oldEndsAt: Date }> {
    const key = await this.lock(caller, id, 'rotate');
    await this.authority.checkMayChange(caller, key);
    checkGrant(caller, key.scopes as Scope[]);
    if (caller.apiKeyId !== key.id) await this.bounds.check(caller, 'rotate other keys');
    const before = ApiKeyDto.from(key);
    if (overlapMs > 0) checkTransitionHasEnded(key);
    const oldEndsAt = new Date(Date.now() + overlapMs);
    const { secret, stored } = this.issuer.issue(KINDS[key.kind].format);
    Object.assign(key, {
      previousKeyHash: overlapMs > 0 ? key.keyHash : null,
      previousKeyExpiresAt: overlapMs > 0 ? oldEndsAt : null,
      ...stored,
    });
    await this.saveChange(key, before);
    return { key, secret, oldEndsAt };
  }

  /** Revokes at once, whatever the rank of the key's user, because it only takes access away: without the hashes, no query can find the key by its secret. */
  async revoke(caller: Principal, id: string): Promise<void> {
    const key = await this.lock(caller, id, 'delete');
    this.noteChange(key, ApiKeyDto.from(key));
    await this.end(key);
  }

  /** Revokes all of them, or none if the caller cannot access one. In the order of their ids, so that two requests cannot deadlock. */
  async revokeMany(caller: Principal, ids: readonly string[]): Promise<string[]> {
    const sorted = [...new Set(ids.map((id) => id.toLowerCase()))].sort();
    for (const id of sorted) await this.end(await this.lock(caller, id, 'delete'));
    this.audit.note({ targetId: sorted.join(','), workspaceId: caller.workspaceId });
    return sorted;
  }

  private async end(key: ApiKey): Promise<void> {
    Object.assign(key, {
      revokedKeyHash: key.keyHash,
      keyHash: null,
      previousKeyHash: null,
      previousKeyExpiresAt: null,
      deletedAt: new Date(),
    });
    await this.save(key);
    await this.changes.publish({ resource: 'api_key', id: key.id });
  }

  private async find(caller: Principal, id: string, verb: KeyVerb, lock = false): Promise<ApiKey> {
    const key = isUuid(id)
      ? await this.apiKeys.findOne({
          where: { id, ...reachOf(caller), ...ownKeysOf(caller) },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    // Another tenant's key is "not found", not "forbidden": a 403 would reveal that it exists.
    if (!key) throw new AppError('not_found', { resource: 'API key' });
    const scope = scopeOf(key.kind, verb);
    this.audit.note({ action: scope, targetId: key.id, workspaceId: key.workspaceId });
    requireScope(caller, scope);
    return key;
  }

  /** Concurrent changes of one key take turns, so that neither is lost. */
  private lock(caller: Principal, id: string, verb: KeyVerb): Promise<ApiKey> {
    return this.find(caller, id, verb, true);
  }

  private async changeLimits(key: ApiKey, dto: UpdateApiKeyDto): Promise<void> {
    const { rate_limits, usage_limits, reset_usage } = dto;
    if (rate_limits !== undefined) key.rateLimits = this.limits.rates(rate_limits, key.rateLimits);
    if (usage_limits !== undefined) key.usageLimits = this.limits.budgets(usage_limits, key.usageLimits);
    if (reset_usage) key.rateLimits = await this.limits.reset(key);
  }

  /** Only added scopes are checked: a caller may keep a scope that it could not grant. */
  private replacedScopes(caller: Principal, key: ApiKey, names: readonly string[]): Scope[] {
    const scopes = readScopes(names, key.kind);
    checkGrant(
      caller,
      scopes.filter((scope) => !key.scopes.includes(scope)),
    );
    return scopes;
  }

  private async saveChange(key: ApiKey, before: ApiKeyDto): Promise<void> {
    const saved = await this.save(key);
    this.noteChange(saved, before, ApiKeyDto.from(saved));
    await this.changes.publish({ resource: 'api_key', id: key.id });
  }

  private noteChange(key: ApiKey, before: ApiKeyDto, after?: ApiKeyDto): void {
    this.audit.note({ targetId: key.id, workspaceId: key.workspaceId, before, ...(after ? { after } : {}) });
  }

  private save(key: ApiKey): Promise<ApiKey> {
    return this.apiKeys.save(key);
  }
}

/**
 * A key that could raise its own budget would have none, one that could extend its expiry would never expire, and one that could choose its
 * config would not be bound to it.
 */
function checkNotOwn(caller: Principal, key: ApiKey, dto: UpdateApiKeyDto): void {
  if (caller.apiKeyId !== key.id) return;
  if (changesLimits(dto)) throw new AppError('forbidden', { detail: 'a key cannot change its own limits' });
  if (dto.expires_at !== undefined)
    throw new AppError('forbidden', { detail: 'a key cannot change its own expiry' });
  if (dto.defaults !== undefined)
    throw new AppError('forbidden', { detail: 'a key cannot change its own defaults' });
}

/** The end of a transition was promised to every application that still uses the previous secret. */
function checkTransitionHasEnded({ previousKeyHash, previousKeyExpiresAt }: ApiKey): void {
  if (previousKeyHash === null || previousKeyExpiresAt === null) return;
  if (previousKeyExpiresAt.getTime() <= Date.now()) return;
  const until = previousKeyExpiresAt.toISOString();
  throw new AppError('conflict', {
    detail: `The secret before the last rotation works until ${until}. Rotate after that, or send "key_transition_period_ms": 0 to end all old secrets now.`,
  });
}

const changesBounds = (dto: UpdateApiKeyDto): boolean =>
  changesLimits(dto) || dto.expires_at !== undefined || dto.defaults !== undefined;

function changesLimits({ rate_limits, usage_limits, reset_usage }: UpdateApiKeyDto): boolean {
  return rate_limits !== undefined || usage_limits !== undefined || reset_usage === true;
}

/** Undefined stays undefined, and null stays null: "no change" differs from "remove". */
function momentOf(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
