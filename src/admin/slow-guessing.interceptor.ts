import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { catchError, type Observable } from 'rxjs';
import { IdentityService } from '../auth/identity/identity.service.js';
import { AppError } from '../common/errors/app-error.js';

/** Counts attempts that fail by address, together with failed API keys: too many guesses get a 429. */
@Injectable()
export class SlowGuessingInterceptor implements NestInterceptor {
  constructor(private readonly identity: IdentityService) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    return next.handle().pipe(
      catchError((error: unknown) => {
        if (isRefusal(error)) this.identity.countFailure(request.raw);
        throw error;
      }),
    );
  }
}

/** A failure of the gateway is not a guess. */
const isRefusal = (error: unknown): boolean => error instanceof AppError && error.spec.status < 500;
