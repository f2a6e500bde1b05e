import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { unknownParameter } from '../../common/errors/field-errors.js';
import { isQueryDto } from './query.dto.js';

/**
 * Refuses every query parameter of an operation whose handler takes no `QueryDto`: the validation sees only what a handler takes. Runs
 * after the scope check, like the validation.
 */
@Injectable()
export class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): true {
    const [name] = Object.keys(context.switchToHttp().getRequest<FastifyRequest>().query as object);
    if (name === undefined || takesQuery(context.getClass(), context.getHandler().name)) return true;
    throw unknownParameter(name, [], ' This operation has no query parameters.');
  }
}

const takesQuery = ({ prototype }: Type, handler: string): boolean =>
  ((Reflect.getMetadata('design:paramtypes', prototype as object, handler) ?? []) as unknown[]).some(
    isQueryDto,
  );
