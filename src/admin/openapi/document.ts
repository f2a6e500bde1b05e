import type { INestApplication, Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import {
  FOR_EVERY_CALLER,
  REQUIRED_SCOPES,
  SESSION_ACTION,
} from '../../auth/permissions/access.decorators.js';
import { COOKIE_OVER_HTTP, COOKIE_OVER_HTTPS } from '../../common/http/session-cookie-names.js';
import { API_KEY_SECURITY, SESSION_SECURITY } from './security.js';
import { STEP_UP } from '../../auth/permissions/step-up.guard.js';
import { VERSION } from '../../common/version.js';
import { applyConstraints } from './constraints.js';
import { describeAnswers, groupOperations, listGroups } from './descriptions/describe.js';
import { addExamples, dropPlainExamples } from './examples.js';
import { addGatewayPaths } from './gateway-paths.js';
import { addLinks } from './links.js';
import { describePathParameters } from './path-parameters.js';
import { shareRefusals } from './refusals.js';
import { shareAnswers, shareParameters, shareSchemas, shareSecurity } from './sharing.js';

const DESCRIPTION = `Gatehouse is a gateway to AI providers with its administration built in. Applications call the endpoints of providers at its address; administrators manage keys, configs, limits, logs and users.

Send an API key in the header \`x-gateway-api-key\`. Each operation names the scope that it needs.
Every POST may carry an \`Idempotency-Key\`: the same key with the same request has one effect within 24 hours.
Every single resource has an \`ETag\`, which a change may name in \`If-Match\`.
Errors have the body \`{"error": {"message", "type", "code", "param", "request_id"}}\`; the schema \`RefusalDetailDto\` lists the codes.`;

const SESSION = `The cookie of a dashboard session, set by POST /v1/auth/sign-in; over http its name is \`${COOKIE_OVER_HTTP}\`. A change must also carry \`x-gateway-csrf: 1\` and come from the service's own origin. \`x-gateway-workspace\` names the workspace where the user has several.`;

const API_KEY =
  'An API key of the gateway. `Authorization: Bearer` accepts it too, unless that header carries a provider key.';

/** The OpenAPI document of the whole service. */
export function buildOpenApi(app: INestApplication): OpenAPIObject {
  const document = buildAdministrationApi(app);
  addGatewayPaths(document);
  listGroups(document);
  return document;
}

/**
 * The administration's part, generated from its controllers. `withDeprecated` adds the paths that are accepted but not documented, for
 * tests that walk every operation.
 */
export function buildAdministrationApi(
  app: INestApplication,
  options: { readonly withDeprecated?: boolean } = {},
): OpenAPIObject {
  const head = new DocumentBuilder()
    .setTitle('Gatehouse')
    .setDescription(DESCRIPTION)
    .setVersion(VERSION)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addServer('/', 'The gateway that serves this document')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'x-gateway-api-key', description: API_KEY },
      API_KEY_SECURITY,
    )
    .addCookieAuth(
      COOKIE_OVER_HTTPS,
      { type: 'apiKey', in: 'cookie', description: SESSION },
      SESSION_SECURITY,
    )
    .build();
  head.info.contact = { name: 'The maintainers of Gatehouse' };
  const document = structuredClone(SwaggerModule.createDocument(app, head, { operationIdFactory }));
  nameScopes(document, scopesByOperation(app));
  nameSessions(document, operationsWith(app, SESSION_ACTION));
  nameStepUps(document, operationsWith(app, STEP_UP));
  nameSecondPaths(document);
  if (!options.withDeprecated) dropDeprecated(document);
  groupOperations(document);
  listGroups(document);
  shareRefusals(document);
  applyConstraints(document, bodiesOf(app));
  describePathParameters(document);
  describeAnswers(document);
  dropPlainExamples(document);
  shareSchemas(document);
  addExamples(document);
  addLinks(document);
  shareParameters(document);
  shareAnswers(document);
  shareSecurity(document, [{ [API_KEY_SECURITY]: [] }, { [SESSION_SECURITY]: [] }]);
  return document;
}

/** `VirtualKeysController.create` becomes `virtualKeysCreate`: a stable name for generated clients. */
function operationIdFactory(controller: string, method: string, version?: string): string {
  const resource = controller.replace(/Controller$/, '');
  const name =
    resource.charAt(0).toLowerCase() + resource.slice(1) + method.charAt(0).toUpperCase() + method.slice(1);
  return version ? `${name}${version}` : name;
}

interface Operation {
  operationId?: string;
  description?: string;
  deprecated?: boolean;
  security?: readonly object[];
  'x-scopes'?: readonly string[];
}

type OperationsByMethod = Record<string, Operation>;

/** A handler with several paths becomes as many operations; the framework numbers them. */
const NUMBER = /\[(\d+)\]$/;

function nameScopes({ paths }: OpenAPIObject, scopes: ReadonlyMap<string, readonly string[]>): void {
  for (const methods of Object.values(paths) as OperationsByMethod[])
    for (const operation of Object.values(methods)) {
      const needed = scopes.get(operation.operationId?.replace(NUMBER, '') ?? '') ?? [];
      operation.description = [operation.description, opens(operation, needed)].filter(Boolean).join('\n\n');
      operation['x-scopes'] = needed;
    }
}

/** Marks operations that require a dashboard session. */
function nameSessions({ paths }: OpenAPIObject, names: ReadonlySet<string>): void {
  for (const methods of Object.values(paths) as OperationsByMethod[])
    for (const operation of Object.values(methods)) {
      if (!names.has(operation.operationId ?? '')) continue;
      operation.description = operation.description?.replace(OPEN_TO_EVERY_CALLER, OPEN_TO_SESSIONS);
      operation.security = [{ [SESSION_SECURITY]: [] }];
    }
}

/** Marks operations that require a recent proof of identity from the session's user. */
function nameStepUps({ paths }: OpenAPIObject, names: ReadonlySet<string>): void {
  for (const methods of Object.values(paths) as OperationsByMethod[])
    for (const operation of Object.values(methods))
      if (names.has(operation.operationId?.replace(NUMBER, '') ?? ''))
        operation.description = `${operation.description ?? ''} ${STEP_UP_TEXT}`;
}

const STEP_UP_TEXT = 'A session needs a sign-in or step-up within the last 10 minutes.';
const OPEN_TO_EVERY_CALLER = 'Open to every caller.';
const OPEN_TO_SESSIONS = 'Open to users who are signed in to the dashboard.';

function opens({ security }: Operation, scopes: readonly string[]): string {
  if (security?.length === 0) return 'Needs no API key.';
  return scopes.length === 0 ? OPEN_TO_EVERY_CALLER : `Scope: ${scopes.map(code).join(' or ')}.`;
}

/** The first path of a handler keeps its name. The others belong to another version of the API, or are another client's spelling. */
function nameSecondPaths({ paths }: OpenAPIObject): void {
  for (const [path, methods] of Object.entries(paths))
    for (const operation of Object.values(methods as OperationsByMethod)) {
      const { operationId = '' } = operation;
      const number = NUMBER.exec(operationId)?.[1];
      if (number === undefined) continue;
      const ending = number === '0' ? '' : endingOf(path);
      operation.operationId = operationId.replace(NUMBER, ending);
      if (ending === OF_CLIENT) operation.deprecated = true;
    }
}

const OF_CLIENT = 'BySdkPath';

function endingOf(path: string): string {
  const version = /^\/v([2-9])\//.exec(path)?.[1];
  return version === undefined ? OF_CLIENT : `V${version}`;
}

/** Deprecated paths are accepted but not documented. */
function dropDeprecated(document: OpenAPIObject): void {
  const kept = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(
      Object.entries(methods as OperationsByMethod).filter(([, { deprecated }]) => !deprecated),
    ),
  ]) as [string, object][];
  document.paths = Object.fromEntries(kept.filter(([, methods]) => Object.keys(methods).length > 0));
}

const code = (scope: string): string => `\`${scope}\``;

/** The scopes required by handlers, by operation. */
function scopesByOperation(app: INestApplication): Map<string, readonly string[]> {
  return new Map(controllersOf(app).flatMap(handlersOf));
}

/** Operations whose handlers have this metadata. */
function operationsWith(app: INestApplication, metadata: string): Set<string> {
  const operations = controllersOf(app).flatMap((controller) => {
    const prototype = controller.prototype as Record<string, object>;
    return Object.getOwnPropertyNames(prototype)
      .filter((name) => Reflect.hasMetadata(metadata, prototype[name] ?? {}))
      .map((name) => operationIdFactory(controller.name, name));
  });
  return new Set(operations);
}

function controllersOf(app: INestApplication): Type[] {
  return new DiscoveryService(app.get(ModulesContainer))
    .getControllers()
    .flatMap(({ metatype }) => (metatype ? [metatype as Type] : []));
}

/** The classes of all handler parameters, including bodies. */
function bodiesOf(app: INestApplication): Type[] {
  return controllersOf(app).flatMap((controller) => {
    const prototype = controller.prototype as object;
    return Object.getOwnPropertyNames(prototype).flatMap(
      (name) => (Reflect.getMetadata('design:paramtypes', prototype, name) ?? []) as Type[],
    );
  });
}

function handlersOf(controller: Type): [string, readonly string[]][] {
  const prototype = controller.prototype as Record<string, object>;
  return Object.getOwnPropertyNames(prototype).flatMap((name) => {
    const handler = prototype[name] ?? {};
    const scopes: unknown = Reflect.getMetadata(REQUIRED_SCOPES, handler);
    const isOpen = Reflect.getMetadata(FOR_EVERY_CALLER, handler) === true;
    if (!Array.isArray(scopes) && !isOpen) return [];
    return [[operationIdFactory(controller.name, name), (scopes ?? []) as readonly string[]]];
  });
}
