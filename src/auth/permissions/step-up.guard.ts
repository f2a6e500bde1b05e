import {
  applyDecorators,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiExtension } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { accessOf } from './access.js';

export const STEP_UP = 'gatehouse:step-up';

/** Refuses with `step_up_required` a session whose user was not verified within the last 10 minutes. */
@Injectable()
export class StepUpGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): true {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { session } = accessOf(request);
    const fields = this.reflector.get<readonly string[]>(STEP_UP, context.getHandler());
    const isAsked = fields.length === 0 || fields.some((field) => hasField(request.body, field));
    if (session && isAsked && !session.isRecent) throw new AppError('step_up_required');
    return true;
  }
}

const hasField = (body: unknown, field: string): boolean =>
  typeof body === 'object' && body !== null && Object.hasOwn(body, field);

/**
 * For handlers with the most harmful misuse at an unlocked screen, or with a stolen session. API keys and signed tokens need no step-up.
 * `fields`: only a body with one of them requires it.
 */
export const RequireStepUp = (...fields: readonly string[]): MethodDecorator =>
  applyDecorators(SetMetadata(STEP_UP, fields), UseGuards(StepUpGuard), ApiExtension('x-step-up', true));
