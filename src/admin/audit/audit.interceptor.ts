import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { accessOf } from '../../auth/permissions/access.js';
import { RECORDED } from '../../auth/permissions/access.decorators.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AuditTrail } from './audit-trail.service.js';
import { isReading } from './reading.js';

/**
 * Opens the transaction of the caller's organization, runs the handler inside it, writes the audit record and commits. A change that cannot
 * be recorded does not happen. Reads change nothing, and leave no record unless their handler is `Recorded`.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly trail: AuditTrail,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { caller } = accessOf(request);
    const isRead = isReading(request.method) && !this.reflector.get(RECORDED, context.getHandler());
    const { statusCode } = context.switchToHttp().getResponse<FastifyReply>();
    const work = () => (isRead ? answerOf(next) : this.recorded(request, statusCode, next));
    // On a public path the caller is unknown until the service has checked the body.
    if (!caller) return from(this.unitOfWork.run(work));
    return from(this.unitOfWork.runFor({ organizationId: caller.organizationId, isReading: isRead }, work));
  }

  private async recorded(request: FastifyRequest, status: number, next: CallHandler): Promise<unknown> {
    const answer = await this.trail.watch(request, () => answerOf(next));
    this.trail.checkConditions(request);
    await this.trail.record(request, { outcome: 'success', status, errorCode: null });
    return answer;
  }
}

function answerOf(next: CallHandler): Promise<unknown> {
  return lastValueFrom<unknown, unknown>(next.handle(), { defaultValue: undefined });
}
