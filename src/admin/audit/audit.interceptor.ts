import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { UnitOfWork } from '../../common/database/unit-of-work.js';
import { AppError } from '../../common/errors/app-error.js';
import { AuditTrail } from './audit-trail.service.js';
import { isReading } from './reading.js';

/**
 * Opens the transaction, lets the handler work inside it, writes the audit record and commits. A change that cannot be
 * recorded does not happen. Reading leaves no record.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly trail: AuditTrail,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (isReading(request.method)) return next.handle();
    const { statusCode } = context.switchToHttp().getResponse<FastifyReply>();
    return from(this.unitOfWork.run(() => this.recorded(request, statusCode, next)));
  }

  private async recorded(request: FastifyRequest, status: number, next: CallHandler): Promise<unknown> {
    const answer: unknown = await this.trail.watch(request, () =>
      lastValueFrom(next.handle(), { defaultValue: undefined }),
    );
    this.trail.checkConditions(request);
    try {
      await this.trail.record(request, { outcome: 'success', status, errorCode: null });
    } catch (cause) {
      throw new AppError('audit_unavailable', {}, { cause });
    }
    return answer;
  }
}
