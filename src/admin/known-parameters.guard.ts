import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type ListQuery, noParameter } from '../common/http/page.js';
import { OPEN_QUERY, QUERY_PARAMETERS } from './openapi/decorators.js';

const NONE: readonly string[] = [];

/**
 * Refuses query parameters that the operation does not document, and names them. Otherwise a misspelled filter would return everything, and
 * a misspelled `dry_run` would save. Runs after the scope check, like body validation.
 */
@Injectable()
export class KnownParametersGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const query = context.switchToHttp().getRequest<FastifyRequest>().query as ListQuery;
    const names = Object.keys(query);
    if (names.length === 0) return true;
    const handler = context.getHandler();
    if (this.reflector.get<boolean | undefined>(OPEN_QUERY, handler)) return true;
    const known = this.reflector.get<readonly string[] | undefined>(QUERY_PARAMETERS, handler) ?? NONE;
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined) throw noParameter(unknown, known, hintOf(known));
    return true;
  }
}

const hintOf = (known: readonly string[]): string =>
  known.length === 0
    ? ' This operation has no query parameters.'
    : ` This operation accepts: ${[...new Set(known)].sort().join(', ')}.`;
