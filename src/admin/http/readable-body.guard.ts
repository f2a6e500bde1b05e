import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../common/errors/app-error.js';

/** A request of the web server with the reason why its body cannot be read. */
interface UnreadableRequest {
  bodyError?: AppError;
}

/** Stores why the body of a request cannot be read, until the guard refuses the request. */
export function markUnreadable(request: object, error: AppError): void {
  // The first reason counts: parsing a truncated body produces misleading errors.
  (request as UnreadableRequest).bodyError ??= error;
}

/**
 * Refuses a request whose body cannot be read. Runs after the caller is identified and the scope is checked, so a caller without the scope
 * learns nothing about the body, and the audit log names the caller of the attempt.
 */
@Injectable()
export class ReadableBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const { bodyError } = context.switchToHttp().getRequest<FastifyRequest & UnreadableRequest>();
    if (bodyError) throw bodyError;
    return true;
  }
}
