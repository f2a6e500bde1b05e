import { applyDecorators, Controller, SetMetadata, UseGuards, UseInterceptors } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import { AuthGuard } from '../../auth/strategies/auth.guard.js';
import { RoleGuard } from '../../auth/permissions/role.guard.js';
import { ScopeGuard } from '../../auth/permissions/scope.guard.js';
import { AuditInterceptor } from '../audit/audit.interceptor.js';
import { NoQueryGuard } from '../http/no-query.guard.js';
import { type GroupId, groupOfPath, GROUPS } from '../openapi/groups.js';
import { ReadableBodyGuard } from '../http/readable-body.guard.js';
import { IdempotencyInterceptor } from '../idempotency/idempotency.interceptor.js';

export const ADMIN_CONTROLLER = 'gatehouse:admin-door';

const VERSIONED = /^v\d+\//;

/**
 * Makes a class an administrative controller, the only way to add one: it identifies the caller, requires the scope that the handler
 * declares, lets POST requests be repeated, and records changes. Paths are below `/v1`, unless they contain another version. `group` is that
 * of the OpenAPI document, by default the one that the path begins with.
 */
export function AdminController(
  path: string | readonly [string, ...string[]],
  group?: GroupId,
): ClassDecorator {
  const paths = typeof path === 'string' ? ([path] as const) : path;
  return applyDecorators(
    Controller(paths.map((path) => (VERSIONED.test(path) ? path : `v1/${path}`))),
    SetMetadata(ADMIN_CONTROLLER, true),
    UseGuards(AuthGuard, ScopeGuard, RoleGuard, NoQueryGuard, ReadableBodyGuard),
    UseInterceptors(IdempotencyInterceptor, AuditInterceptor),
    ApiTags(GROUPS[group ?? groupOfPath(paths[0])].name),
  );
}
