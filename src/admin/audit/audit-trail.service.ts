import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { type Access, accessOf } from '../../auth/permissions/access.js';
import type { Principal } from '../../auth/principal.js';
import type { Scope } from '../../auth/permissions/scopes.js';
import type { AuditOutcome } from './audit-record.entity.js';
import { AsyncContext } from '../../database/async-context.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { checkMatch, entityTagOf, isConditional } from '../entity-tag.js';
import { AuditChain, type UnchainedRecord } from './audit-chain.js';
import { auditedBody, auditedPath } from './audited-body.js';

/** What a service adds about its action that the request does not show. */
export interface AuditNotes {
  /** The very scope, where a handler names several. */
  readonly action?: Scope;
  readonly targetId?: string;
  readonly workspaceId?: string | null;
  /** The target as the API shows it, so never with a secret. */
  readonly before?: object;
  /** What reading the target shows, where that is more than `before`: the client's `If-Match` is about it. */
  readonly seen?: object;
  readonly after?: object;
  /** The request changed nothing and was not to. */
  readonly isLeftOut?: true;
}

export interface AuditedEnding {
  readonly outcome: AuditOutcome;
  readonly status: number;
  readonly errorCode: string | null;
}

/** The audit record. One for each change and each refused attempt of an authenticated caller. */
@Injectable()
export class AuditTrail {
  private readonly current = new AsyncContext<FastifyRequest>();
  private readonly notes = new WeakMap<object, AuditNotes>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly chain: AuditChain,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Runs a handler so that what it notes belongs to this request. */
  watch<T>(request: FastifyRequest, handler: () => Promise<T>): Promise<T> {
    return this.current.run(request, handler);
  }

  /**
   * Adds to what the record of the running request will say. Outside of a change it has no effect. `before` is what the
   * client saw when it read the thing: refuses with `precondition_failed` when the request names another state.
   */
  note(notes: AuditNotes): void {
    const request = this.current.get();
    if (!request) return;
    this.notes.set(request, { ...this.notes.get(request), ...notes });
    const seen = notes.seen ?? notes.before;
    if (seen) checkMatch(request.headers, seen);
  }

  /**
   * For a change that replaces what others may rely on: refuses it with `precondition_required` when the request has no `If-Match`.
   * `replaced` says what would be lost, as the subject of a sentence. Whether the tag fits, `note` checks.
   */
  requireCondition(shown: object, replaced: string): void {
    const request = this.current.get();
    if (!request || isConditional(request.headers)) return;
    throw new AppError('precondition_required', {
      detail: `${replaced} would be replaced. Read what is set with GET; to replace it, repeat the request with "If-Match: ${entityTagOf(shown)}".`,
    });
  }

  /** For a handler that identifies the caller itself, as one without an API key does. `action`: where no scope names it. */
  identify(caller: Principal, action?: string): void {
    const request = this.current.get();
    if (request) Object.assign(accessOf(request), { caller, ...(action === undefined ? {} : { action }) });
  }

  /** For a rehearsal: it changes nothing, so there is nothing to record, however it ends. */
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

  /** A record of its own beside that of the request: of what had to be done before it could be answered. */
  async recordApart(request: FastifyRequest, caller: Principal, notes: AuditNotes): Promise<void> {
    const ending = { outcome: 'success', status: 200, errorCode: null } as const;
    await this.append(request, { caller }, notes, ending);
  }

  /** Writes the record within the running transaction, or in one of its own. Does nothing when the caller was not identified. */
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
    request: auditedBody(request.body),
    requestId: request.id,
  };
}

/** The id or slug that the route names, for attempts that ended before a service could say more. */
function targetInPath(request: FastifyRequest): string | null {
  const [target] = Object.values((request.params ?? {}) as Record<string, string>);
  return target === undefined ? null : auditedPath(target);
}
