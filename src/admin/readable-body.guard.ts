import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../common/errors/app-error.js';

const unreadable = new WeakMap<object, AppError>();

/** Keeps why the body of a request cannot be read, until the guard refuses the request for it. */
export function markUnreadable(request: object, error: AppError): void {
  // The first reason holds: what follows from a body that was cut is not wrong with what was sent.
  if (!unreadable.has(request)) unreadable.set(request, error);
}

/**
 * Refuses a request whose body cannot be read. It runs after the caller is identified and the scope is checked, so a
 * caller without the scope learns nothing about the body, and the audit log names the caller of the attempt.
 */
@Injectable()
export class ReadableBodyGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const error = unreadable.get(context.switchToHttp().getRequest<FastifyRequest>());
    if (error) throw error;
    return true;
  }
}
