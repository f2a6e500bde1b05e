import {
  applyDecorators,
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiTags } from '@nestjs/swagger';
import { publicPath } from '../../common/http/body-limits.js';
import { AuditInterceptor } from '../audit/audit.interceptor.js';
import { NoQueryGuard } from '../http/no-query.guard.js';
import { OWN_TRANSACTIONS } from '../http/own-transactions.decorator.js';
import { type GroupId, GROUPS } from '../openapi/groups.js';
import { ReadableBodyGuard } from '../http/readable-body.guard.js';
import type { FastifyRequest } from 'fastify';
import { catchError, type Observable } from 'rxjs';
import { IdentityService } from '../../auth/identity/identity.service.js';
import { AppError } from '../../common/errors/app-error.js';

/**
 * Counts failed attempts by address, together with failed API keys: a caller that guesses too often is limited. A handler with
 * `OwnTransactions` counts its own.
 */
@Injectable()
class SlowGuessingInterceptor implements NestInterceptor {
  constructor(
    private readonly identity: IdentityService,
    private readonly reflector: Reflector,
  ) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.reflector.get(OWN_TRANSACTIONS, context.getHandler())) return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (isRefusal(error)) this.identity.countFailure(request.raw);
        throw error;
      }),
    );
  }
}

/** An internal error is not a failed attempt. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.spec.status < 500;

export const PUBLIC_CONTROLLER = 'gatehouse:public-door';

/**
 * For callers without an API key, whose credential is in the body. `path`, below `/v1`, is one of `PUBLIC_PATHS`, whose bodies are small:
 * they are read before authentication. Failed attempts are throttled by address, and changes are recorded. `group` is that of the OpenAPI document.
 */
export function PublicController(path: string, group: GroupId): ClassDecorator {
  return applyDecorators(
    Controller(publicPath(path)),
    SetMetadata(PUBLIC_CONTROLLER, true),
    UseGuards(NoQueryGuard, ReadableBodyGuard),
    UseInterceptors(SlowGuessingInterceptor, AuditInterceptor),
    ApiTags(GROUPS[group].name),
  );
}
