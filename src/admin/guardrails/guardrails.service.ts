import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { FindOptionsWhere, QueryDeepPartialEntity, Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { requireScope } from '../../auth/permissions/require-scope.js';
import { type Reach, reachOf } from '../../auth/tenant.js';
import { ChangePublisher } from '../../common/changes/change.js';
import {
  type CheckSecrets,
  guardrailPurpose,
  withoutSecrets,
  withSecrets,
} from '../../routing-config/guardrails/check-secrets.js';
import { bytesToBase62 } from '../../common/ids/base62.js';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { Guardrail } from './guardrail.entity.js';
import { Organization } from '../tenancy/organization.entity.js';
import type { Page } from '../../common/http/page.js';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { type CreateGuardrailDto, GuardrailDto, type UpdateGuardrailDto } from './guardrail.dto.js';
import { GuardrailReferences } from './guardrail-references.service.js';
import type { CheckSpec } from '../../routing-config/guardrails/hook.js';
import { readActions, readChecks } from '../../routing-config/guardrails/read-hooks.js';
import { slugTaken } from '../slugs/claim-slug.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { unknownSlug } from '../slugs/unknown-slug.js';
import { mistakeDetails, mistakesInWords } from '../../routing-config/routing-config.js';
import { type Mistake, DocumentPath } from '../../routing-config/document-path.js';

const SLUG_BYTES = 7;
const SLUG_WIDTH = 10;

/** Where a new guardrail applies: a workspace, or the whole organization. */
export interface GuardrailScope {
  readonly organizationId: string;
  readonly workspaceId: string | null;
}

@Injectable()
export class GuardrailsService {
  constructor(
    @InjectRepository(Guardrail) private readonly guardrails: Repository<Guardrail>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly box: SecretBox,
    private readonly references: GuardrailReferences,
    private readonly changes: ChangePublisher,
    private readonly audit: AuditTrail,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async create(caller: Principal, place: GuardrailScope, dto: CreateGuardrailDto): Promise<Guardrail> {
    checkScope(caller, place.workspaceId, 'create');
    const id = uuidV7(Date.now());
    const slug = dto.slug ?? randomSlug();
    const row = {
      ...place,
      id,
      slug,
      name: dto.name,
      versionId: uuidV7(Date.now()),
      ownerId: makerOf(caller),
      updatedBy: null,
      ...(await this.sealed({ ...place, id }, dto.checks, dto.actions ?? {})),
    };
    if ((await this.unitOfWork.insertUnlessTaken(Guardrail, row as QueryDeepPartialEntity<Guardrail>)) === 0)
      throw slugTaken(slug);
    const saved = await this.guardrails.findOneByOrFail({ id });
    this.noteChange(saved, undefined, GuardrailDto.from(saved));
    await this.announce(saved);
    return saved;
  }

  /** Newest first. */
  list(reach: Reach, { skip, take }: Page): Promise<[Guardrail[], number]> {
    return this.guardrails.findAndCount({
      where: { ...reach },
      order: { createdAt: 'DESC', id: 'DESC' },
      skip,
      take,
    });
  }

  async get(caller: Principal, named: string): Promise<Guardrail> {
    const row = await this.find(reachOf(caller), named);
    checkScope(caller, row.workspaceId, 'read');
    return row;
  }

  async update(caller: Principal, named: string, dto: UpdateGuardrailDto): Promise<Guardrail> {
    const row = await this.find(reachOf(caller), named, true);
    checkScope(caller, row.workspaceId, 'update');
    const before = GuardrailDto.from(row);
    if (dto.name === undefined && dto.checks === undefined && dto.actions === undefined) {
      this.noteChange(row, before, before);
      return row;
    }
    if (dto.name !== undefined) row.name = dto.name;
    if (dto.checks !== undefined || dto.actions !== undefined) {
      const secrets = await this.secretsOf(row);
      const actions = { ...row.actions, ...dto.actions };
      Object.assign(row, await this.sealed(row, dto.checks ?? row.checks, actions, secrets));
    }
    Object.assign(row, { versionId: uuidV7(Date.now()), updatedBy: makerOf(caller) });
    const saved = await this.guardrails.save(row);
    this.noteChange(saved, before, GuardrailDto.from(saved));
    await this.announce(saved);
    return saved;
  }

  async remove(caller: Principal, named: string): Promise<void> {
    const row = await this.find(reachOf(caller), named, true);
    checkScope(caller, row.workspaceId, 'delete');
    await this.references.checkUnused(row);
    this.noteChange(row, GuardrailDto.from(row));
    await this.guardrails.delete({ id: row.id });
    await this.announce(row);
  }

  /** Reads the checks with their secrets, then extracts and seals the secrets. */
  private async sealed(
    { organizationId, id }: Pick<Guardrail, 'organizationId' | 'id'>,
    checks: readonly unknown[],
    actions: Guardrail['actions'],
    before: CheckSecrets = {},
  ): Promise<Pick<Guardrail, 'checks' | 'actions' | 'sealedSecrets'>> {
    const whole = checks.every(isObject) ? withSecrets(checks, before) : checks;
    const read = readGuardrail(whole, actions);
    const { shown, secrets } = withoutSecrets(read.checks);
    if (Object.keys(secrets).length === 0)
      return { checks: shown, actions: read.actions, sealedSecrets: null };
    const sealedSecrets = this.box.sealText(
      await this.keyOf(organizationId),
      guardrailPurpose(organizationId, id),
      new Secret(JSON.stringify(secrets)),
    );
    return { checks: shown, actions: read.actions, sealedSecrets };
  }

  private async secretsOf({ organizationId, id, sealedSecrets }: Guardrail): Promise<CheckSecrets> {
    if (!sealedSecrets) return {};
    const purpose = guardrailPurpose(organizationId, id);
    const clear = this.box.openText(await this.keyOf(organizationId), purpose, sealedSecrets);
    return JSON.parse(clear.reveal()) as CheckSecrets;
  }

  private async keyOf(organizationId: string) {
    const { wrappedKey: wrapped } = await this.organizations.findOneByOrFail({ id: organizationId });
    return { organizationId, wrapped };
  }

  private async find(
    { organizationId, workspaceId }: Reach,
    named: string,
    lock = false,
  ): Promise<Guardrail> {
    const which = namedBy(named);
    const reach = { organizationId, ...(workspaceId === undefined ? {} : { workspaceId }) };
    const row = which
      ? await this.guardrails.findOne({
          where: { ...reach, ...which },
          ...(lock ? { lock: { mode: 'pessimistic_write' as const } } : {}),
        })
      : null;
    // Another tenant's guardrail is "not found", not "forbidden": a 403 would reveal that it exists.
    if (!row) throw await unknownSlug({ resource: 'guardrail', named }, this.guardrails, reach);
    return row;
  }

  private noteChange(row: Guardrail, before?: GuardrailDto, after?: GuardrailDto): void {
    const shown = { ...(before ? { before } : {}), ...(after ? { after } : {}) };
    this.audit.note({ targetId: row.id, workspaceId: row.workspaceId, ...shown });
  }

  private announce({ id }: Guardrail): Promise<void> {
    return this.changes.publish({ resource: 'guardrail', id });
  }
}

/** Organization-wide guardrails have separate scopes. */
function checkScope(
  caller: Principal,
  workspaceId: string | null,
  verb: 'create' | 'read' | 'update' | 'delete',
): void {
  if (workspaceId === null) requireScope(caller, `organisation_guardrails.${verb}`);
}

/** A caller with a signed token of an unknown user is recorded as the organization itself. */
const randomSlug = (): string => `pg-${bytesToBase62(randomBytes(SLUG_BYTES), SLUG_WIDTH).toLowerCase()}`;

const makerOf = ({ userId, apiKeyId, organizationId }: Principal): string =>
  userId ?? apiKeyId ?? organizationId;

function namedBy(named: string): FindOptionsWhere<Guardrail> | null {
  if (isUuid(named)) return { id: named.toLowerCase() };
  return isSlug(named) ? { slug: named } : null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

type CheckParameters = Readonly<Record<string, unknown>>;

/** Checks and actions in the stored form: complete and valid. Refuses with all mistakes at once. */
function readGuardrail(
  checks: readonly unknown[],
  actions: CheckParameters,
): { readonly checks: readonly CheckParameters[]; readonly actions: CheckParameters } {
  const mistakes: Mistake[] = [];
  const read = readChecks(checks, DocumentPath.root(mistakes, 'checks'));
  const done = readActions(actions, DocumentPath.root(mistakes, 'actions'));
  if (mistakes.length > 0 || !done)
    throw new AppError(
      'invalid_request',
      mistakeDetails(mistakes, `The guardrail is invalid: ${mistakesInWords(mistakes)}.`),
    );
  return {
    checks: read.map(written),
    actions: {
      deny: done.deny,
      async: done.isAsync,
      sequential: done.isSequential,
      fail_on_error: done.failOnError,
      on_success: done.onSuccess && { feedback: done.onSuccess },
      on_fail: done.onFail && { feedback: done.onFail },
    },
  };
}

function written({ id, name, parameters, isEnabled }: CheckSpec): CheckParameters {
  return { id, ...(name === null ? {} : { name }), parameters, is_enabled: isEnabled };
}
