import { applyDecorators, Controller, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { publicPath } from '../common/http/body-limits.js';
import { AuditInterceptor } from './audit/audit.interceptor.js';
import { KnownParametersGuard } from './known-parameters.guard.js';
import { ReadableBodyGuard } from './readable-body.guard.js';
import { SlowGuessingInterceptor } from './slow-guessing.interceptor.js';

export const PUBLIC_DOOR = 'gatehouse:public-door';

/**
 * A door for those who have no API key, because what they send in the body is the credential. `path`, below `/v1`, is
 * one of `PUBLIC_PATHS`, whose bodies are small: they are read before anybody is known. Failed attempts slow their
 * address down, and what is changed is recorded.
 */
export function PublicController(path: string, tag: string): ClassDecorator {
  return applyDecorators(
    Controller(publicPath(path)),
    SetMetadata(PUBLIC_DOOR, true),
    UseGuards(KnownParametersGuard, ReadableBodyGuard),
    UseInterceptors(SlowGuessingInterceptor, AuditInterceptor),
    ApiTags(tag),
  );
}
