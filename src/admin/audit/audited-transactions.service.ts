import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { accessOf } from '../../auth/permissions/access.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { AuditTrail } from './audit-trail.service.js';

/** The transactions of requests. The interceptor runs handlers in them; handlers with `OwnTransactions` call it. */
@Injectable()
export class AuditedTransactions {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly trail: AuditTrail,
  ) {}

  /** Runs changes, writes their audit record and commits. A change that cannot be recorded does not happen. */
  run<T>({ request, statusCode: status }: FastifyReply, work: () => Promise<T>): Promise<T> {
    return this.inTransaction(request, false, async () => {
      const result = await this.trail.watch(request, work);
      this.trail.checkConditions(request);
      await this.trail.record(request, { outcome: 'success', status, errorCode: null });
      return result;
    });
  }

  /** Runs reads, which leave no record. */
  read<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    return this.inTransaction(request, true, work);
  }

  /** In the caller's organization. On a public path the caller is unknown until the service has checked the body. */
  private inTransaction<T>(request: FastifyRequest, isReading: boolean, work: () => Promise<T>): Promise<T> {
    const { caller } = accessOf(request);
    if (!caller) return this.unitOfWork.run(work);
    return this.unitOfWork.runFor({ organizationId: caller.organizationId, isReading }, work);
  }
}
