import 'reflect-metadata';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Controller, Get, type Type } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { AdminController } from '../../src/admin/controllers/admin-controller.js';
import {
  ScopeDeclarationCheck,
  handlersWithoutScope,
} from '../../src/admin/controllers/scope-declaration-check.js';
import { AdminModule } from '../../src/admin/admin.module.js';
import { OPEN_TO_EVERYBODY, RequireScope } from '../../src/auth/permissions/access.decorators.js';

interface ModuleLike {
  readonly module?: Type;
}

/** Every controller of a module and of those that it imports. */
function controllersOf(module: Type | ModuleLike, seen = new Set<unknown>()): Type[] {
  const type = 'module' in module && module.module ? module.module : (module as Type);
  if (seen.has(type)) return [];
  seen.add(type);
  const imports = (Reflect.getMetadata('imports', type) ?? []) as (Type | ModuleLike)[];
  const own = (Reflect.getMetadata('controllers', type) ?? []) as Type[];
  return [...own, ...imports.flatMap((inner) => controllersOf(inner, seen))];
}

/** Who is let in without an API key. Each of them must have its own reason to be here. */
const PUBLIC = [
  'AcceptInviteController',
  'PasskeySignInController',
  'SetUpController',
  'SignInController',
  'PasskeyOptionsController',
  'BackChannelLogoutController',
  'FindProvidersController',
  'SignOnCallbackController',
  'StartSignOnController',
];

const isPublic = (controller: Type): boolean =>
  Reflect.getMetadata('gatehouse:public-door', controller) === true;

describe('the controllers of the administration', () => {
  const all = controllersOf(AdminModule);
  const controllers = all.filter((controller) => !isPublic(controller));

  it('are found', () => {
    expect(controllers.length).toBeGreaterThan(2);
  });

  it('are declared by @AdminController alone', () => {
    const sources = readdirSync('src/admin', { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => join('src/admin', file));
    const wild = sources.filter((file) => /^\s*@Controller\(/m.test(readFileSync(file, 'utf8')));
    const guarded = controllers.filter(
      (controller) => Reflect.getMetadata('gatehouse:admin-door', controller) === true,
    );

    expect(wild).toEqual([]);
    expect(guarded.map(({ name }) => name)).toEqual(controllers.map(({ name }) => name));
  });

  it('without an API key are few, count failures and record what is changed', () => {
    const open = all.filter(isPublic);
    expect(open.map(({ name }) => name)).toEqual(PUBLIC);
    for (const controller of open) {
      const interceptors = Reflect.getMetadata('__interceptors__', controller) as Type[];
      expect(interceptors.map(({ name }) => name)).toEqual(['SlowGuessingInterceptor', 'AuditInterceptor']);
    }
  });

  it('each have a scope, identify the caller and record what is changed', () => {
    expect(controllers.flatMap(handlersWithoutScope)).toEqual([]);
    for (const controller of controllers) {
      const names = (key: string) => (Reflect.getMetadata(key, controller) as Type[]).map(({ name }) => name);
      expect(names('__guards__')).toEqual([
        'AuthGuard',
        'ScopeGuard',
        'RoleGuard',
        'NoQueryGuard',
        'ReadableBodyGuard',
      ]);
      expect(names('__interceptors__')).toEqual(['IdempotencyInterceptor', 'AuditInterceptor']);
    }
  });
});

describe('routes that need no key', () => {
  it('are list prices, and files by a signed link', () => {
    const open = controllersOf(AdminModule).flatMap((controller) => {
      const prototype = controller.prototype as Record<string, object>;
      return Object.getOwnPropertyNames(prototype)
        .filter((name) => Reflect.getMetadata(OPEN_TO_EVERYBODY, prototype[name] ?? {}) === true)
        .map((name) => `${controller.name}.${name}`);
    });

    expect(open).toEqual(['ModelConfigsController.read', 'LogExportFilesController.file']);
  });
});

describe('a handler without a scope', () => {
  @AdminController('forgetful', 'logs')
  class ForgetfulController {
    @Get()
    @RequireScope('logs.list')
    guarded(): void {}

    @Get('open')
    open(): void {}
  }

  @Controller('elsewhere')
  class ElsewhereController {
    @Get()
    open(): void {}
  }

  const doors = (...metatypes: Type[]) =>
    new ScopeDeclarationCheck({ getControllers: () => metatypes.map((metatype) => ({ metatype })) } as never);

  it('is found', () => {
    expect(handlersWithoutScope(ForgetfulController)).toEqual(['ForgetfulController.open']);
  });

  it('keeps the application from starting', () => {
    expect(() => doors(ForgetfulController).onModuleInit()).toThrow('ForgetfulController.open');
    expect(() => doors(ElsewhereController).onModuleInit()).not.toThrow();
  });
});
