import { createHash } from 'node:crypto';
import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { callerOf } from '../../auth/permissions/access.js';
import type { Principal } from '../../auth/principal.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { IdempotentAnswers } from './idempotent-answers.js';

const HEADER = 'idempotency-key';
/** Visible ASCII, as in a UUID or any other token. */
const ACCEPTABLE = /^[\x21-\x7e]{1,255}$/;

/**
 * Lets a client repeat a POST whose response it did not receive: the same `Idempotency-Key` with the same request creates one resource and
 * returns the same response for 24 hours. The header follows
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header. A failed request has created nothing, and its repetition
 * is executed.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly answers: IdempotentAnswers,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const key = request.headers[HEADER];
    if (request.method !== 'POST' || key === undefined) return next.handle();
    const caller = callerOf(context);
    const owner = ownerOf(caller, key);
    const tenancy = { organizationId: caller.organizationId, isReading: false };
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return from(this.unitOfWork.runFor(tenancy, () => this.once(owner, { request, reply }, next)));
  }

  private async once(
    owner: ReturnType<typeof ownerOf>,
    { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
    next: CallHandler,
  ): Promise<unknown> {
    const fingerprint = fingerprintOf(request);
    const earlier = await this.answers.claim(owner, fingerprint);
    if (!earlier) {
      const answer: unknown = await lastValueFrom(next.handle(), { defaultValue: undefined });
      await this.answers.keep(owner, answer);
      return answer;
    }
    if (!earlier.fingerprint.equals(fingerprint)) throw new AppError('idempotency_key_reused');
    reply.header('idempotency-replayed', 'true');
    return earlier.answer;
  }
}

function ownerOf(caller: Principal, key: unknown) {
  if (typeof key !== 'string' || !ACCEPTABLE.test(key))
    throw new AppError('header_invalid', {
      header: HEADER,
      detail: 'it must be 1 to 255 visible ASCII characters',
    });
  const { organizationId, apiKeyId, userId } = caller;
  return { organizationId, callerId: apiKeyId ?? userId ?? idOfToken(caller), key };
}

function fingerprintOf({ method, url, body }: FastifyRequest): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([method, url, body ?? null]))
    .digest();
}

/** A token without a user is identified by its workspace and by its own subject. */
function idOfToken({ workspaceId, name }: Principal): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([workspaceId, name]))
    .digest('hex');
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
