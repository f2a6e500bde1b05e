import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Access, accessOf } from '../../auth/permissions/access.js';
import type { Principal } from '../../auth/principal.js';
import type { Scope } from '../../auth/scopes.js';
import type { AuditOutcome } from './audit-record.entity.js';
import { AsyncContext } from '../../database/async-context.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { checkMatch, entityTagOf, isConditional } from '../http/entity-tag.js';
import { AuditChain, type UnchainedRecord } from './audit-chain.js';
import { auditedBody, auditedHeaders, auditedPath, auditedQuery } from './audited-body.js';

/** Facts that a service adds about its action beyond the request. */
export interface AuditNotes {
  /** The exact scope, if a handler names several; another action if no scope names it. */
  readonly action?: Scope | 'invites.accept' | 'sign_in_methods.delete';
  readonly targetId?: string;
  readonly workspaceId?: string | null;
  /** The target as the API shows it, so never with a secret. */
  readonly before?: object;
  /** The response of reading the target, if it has more than `before`: the client's `If-Match` refers to it. */
  readonly seen?: object;
  readonly after?: object;
  /** The request changed nothing, as intended. */
  readonly isLeftOut?: true;
}

/** A user whom a refused attempt concerns. */
export interface SuspectedUser {
  readonly id: string;
  readonly organizationId: string;
  readonly email: string;
}

export interface AuditedEnding {
  readonly outcome: AuditOutcome;
  readonly status: number;
  readonly errorCode: string | null;
}

/** Writes audit records: one for each change and each refused attempt of an authenticated caller. */
@Injectable()
export class AuditTrail {
  private readonly current = new AsyncContext<FastifyRequest>();
  private readonly notes = new WeakMap<object, AuditNotes>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly chain: AuditChain,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Runs a handler so that its notes belong to this request. */
  watch<T>(request: FastifyRequest, handler: () => Promise<T>): Promise<T> {
    return this.current.run(request, handler);
  }

  /**
   * Adds to the record of the current request. Without a change it has no effect. `before` is the state that the client read: refuses with
   * `precondition_failed` when the request names another state.
   */
  note(notes: AuditNotes): void {
    const request = this.current.get();
    if (!request) return;
    this.notes.set(request, { ...this.notes.get(request), ...notes });
    const seen = notes.seen ?? notes.before;
    if (seen) checkMatch(request.headers, seen);
  }

  /** The same for a refusal, whose handler is over. */
  noteRefusal(request: FastifyRequest, after: object): void {
    this.notes.set(request, { ...this.notes.get(request), after });
  }

  /**
   * For a change that replaces something others may rely on: refuses it with `precondition_required` when the request has no `If-Match`.
   * `replaced` names what would be lost, as the subject of a sentence. `note` checks whether the tag matches.
   */
  requireCondition(shown: object, replaced: string): void {
    const request = this.current.get();
    if (!request || isConditional(request.headers)) return;
    throw new AppError('precondition_required', {
      detail: `${replaced} would be replaced. Read the current state with GET; to replace it, repeat the request with "If-Match: ${entityTagOf(shown)}".`,
    });
  }

  /** For a handler that identifies the caller itself, without an API key. `action`: required if no scope names it. */
  identify(caller: Principal, action?: string): void {
    const request = this.current.get();
    if (request) Object.assign(accessOf(request), { caller, ...(action === undefined ? {} : { action }) });
  }

  /**
   * For a refused attempt that concerns a known user. Without a caller, the record has the user as the actor who was impersonated; with one,
   * the caller stays the actor.
   */
  suspect({ id, organizationId, email }: SuspectedUser, notes: AuditNotes): void {
    const request = this.current.get();
    if (!request) return;
    this.note(notes);
    const access = accessOf(request);
    access.caller ??= {
      ...{ kind: 'person', apiKeyId: null, name: email, organizationId, workspaceId: null },
      ...{ userId: id, authorityId: id, scopes: new Set(), policy: null },
    };
    access.action ??= 'sessions.create';
  }

  /** For a dry run: it changes nothing, so it is not recorded, whatever its outcome. */
  leaveOut(): void {
    this.note({ isLeftOut: true });
  }

  /** Refuses a condition that no handler has checked. */
  checkConditions(request: FastifyRequest): void {
    if (isConditional(request.headers) && !this.notes.get(request)?.before)
      throw new AppError('header_invalid', {
        header: 'if-match',
        detail: 'this operation changes nothing that has an ETag',
      });
  }

  /** A separate record beside the request's, for a change that had to be made before the request could be answered. */
  async recordApart(request: FastifyRequest, caller: Principal, notes: AuditNotes): Promise<void> {
    const ending = { outcome: 'success', status: 200, errorCode: null } as const;
    await this.append(request, { caller }, notes, ending);
  }

  /** Writes the record within the running transaction, or in a separate one. Does nothing when the caller was not identified. */
  async record(request: FastifyRequest, ending: AuditedEnding): Promise<void> {
    const notes = this.notes.get(request) ?? {};
    if (!notes.isLeftOut) await this.append(request, accessOf(request), notes, ending);
  }

  private async append(
    request: FastifyRequest,
    access: Access,
    notes: AuditNotes,
    ending: AuditedEnding,
  ): Promise<void> {
    const { caller } = access;
    if (!caller) return;
    const record = {
      ip: this.addresses.of(request.raw),
      ...aboutRequest(request),
      ...aboutCaller(caller),
      ...aboutAction(access, notes),
      ...aboutTarget(request, access, notes),
      ...ending,
    } satisfies UnchainedRecord;
    const tenancy = { organizationId: caller.organizationId, isReading: false };
    await this.unitOfWork.runFor(tenancy, async () => this.chain.append(record));
  }
}

function aboutCaller(caller: Principal) {
  return {
    organizationId: caller.organizationId,
    actorKind: caller.kind,
    actorId: caller.apiKeyId ?? caller.userId,
    actorName: caller.name,
    userId: caller.userId,
  };
}

function aboutAction(access: Access, notes: AuditNotes) {
  const action = notes.action ?? access.action ?? access.scopes?.[0] ?? 'unknown';
  const [targetType = action] = action.split('.');
  return { action, targetType, before: notes.before ?? null, after: notes.after ?? null };
}

function aboutTarget(request: FastifyRequest, { caller }: Access, notes: AuditNotes) {
  const ownWorkspace = caller?.workspaceId ?? null;
  return {
    targetId: notes.targetId ?? targetInPath(request),
    workspaceId: notes.workspaceId === undefined ? ownWorkspace : notes.workspaceId,
  };
}

function aboutRequest(request: FastifyRequest) {
  return {
    id: uuidV7(Date.now()),
    at: new Date(),
    method: request.method,
    path: auditedPath(request.url),
    queryParams: auditedQuery(request.query),
    requestHeaders: auditedHeaders(request.headers),
    request: auditedBody(request.body),
    requestId: request.id,
  };
}

/** The id or slug in the route, for attempts that ended before a service could add more. */
function targetInPath(request: FastifyRequest): string | null {
  const [target] = Object.values((request.params ?? {}) as Record<string, string>);
  return target === undefined ? null : auditedPath(target);
}
