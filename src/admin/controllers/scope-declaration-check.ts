import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import {
  FOR_EVERY_CALLER,
  OPEN_TO_EVERYBODY,
  REQUIRED_SCOPES,
} from '../../auth/permissions/access.decorators.js';
import { isScope } from '../../auth/scopes.js';
import { ADMIN_CONTROLLER } from './admin-controller.js';

/** The framework's metadata key for the path of a controller or handler. */
const PATH = 'path';

/** Handlers of an administrative controller without a known scope that are not public on purpose, as `Controller.handler`. */
export function handlersWithoutScope(controller: Type): string[] {
  const prototype = controller.prototype as Record<string, object>;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .filter((name) => Reflect.hasMetadata(PATH, prototype[name] ?? {}) && !namesScopes(prototype[name] ?? {}))
    .map((name) => `${controller.name}.${name}`);
}

function namesScopes(handler: object): boolean {
  if ([FOR_EVERY_CALLER, OPEN_TO_EVERYBODY].some((mark) => Reflect.getMetadata(mark, handler) === true))
    return true;
  const scopes: unknown = Reflect.getMetadata(REQUIRED_SCOPES, handler);
  return Array.isArray(scopes) && scopes.length > 0 && scopes.every((scope) => isScope(String(scope)));
}

/** Refuses to start with a handler that has no scope: no caller could use it, and its author should notice at once. */
@Injectable()
export class ScopeDeclarationCheck implements OnModuleInit {
  constructor(private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    const controllers = this.discovery
      .getControllers()
      .flatMap(({ metatype }) => (isAdminController(metatype) ? [metatype] : []));
    const open = controllers.flatMap(handlersWithoutScope);
    if (open.length > 0) throw new Error(`These handlers require no scope: ${open.join(', ')}.`);
  }
}

function isAdminController(metatype: unknown): metatype is Type {
  return typeof metatype === 'function' && Reflect.getMetadata(ADMIN_CONTROLLER, metatype) === true;
}
