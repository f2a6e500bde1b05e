import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { RECORDED } from '../../auth/permissions/access.decorators.js';
import { OWN_TRANSACTIONS } from '../http/own-transactions.decorator.js';
import { AuditedTransactions } from './audited-transactions.service.js';
import { isReading } from './reading.js';

/**
 * Opens the transaction of the caller's organization, runs the handler inside it, writes the audit record and commits. A change that cannot
 * be recorded does not happen. Reads change nothing, and leave no record unless their handler is `Recorded`. A handler with
 * `OwnTransactions` does the same itself.
 */
@Injectable()
export class AuditInterceptor implements NestInterceptor {
  constructor(
    private readonly transactions: AuditedTransactions,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const handler = context.getHandler();
    if (this.reflector.get(OWN_TRANSACTIONS, handler)) return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const work = () => lastValueFrom<unknown, unknown>(next.handle(), { defaultValue: undefined });
    if (isReading(request.method) && !this.reflector.get(RECORDED, handler))
      return from(this.transactions.read(request, work));
    return from(this.transactions.run(context.switchToHttp().getResponse<FastifyReply>(), work));
  }
}
