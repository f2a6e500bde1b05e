import type { INestApplication, Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { COOKIE_OVER_HTTP, COOKIE_OVER_HTTPS } from '../../common/http/session-cookie-names.js';
import { VERSION } from '../../common/version.js';
import { applyConstraints } from './constraints.js';
import { addExamples, dropPlainExamples } from './examples.js';
import { addGatewayPaths, API_KEY_SECURITY } from './gateway-paths.js';
import { GROUPS } from './groups.js';
import { addLinks } from './links.js';
import { nameIn, operationsOf, type OpenApiSchema } from './parts.js';
import { shareResponses, shareParameters, shareSchemas } from './sharing.js';

const DESCRIPTION = `Gatehouse is a gateway to AI providers with its administration built in. Applications call the endpoints of providers at its address; administrators manage keys, configs, limits, logs and users.

Send an API key in the header \`x-gateway-api-key\`. Each operation names the scope that it needs.
Every POST may carry an \`Idempotency-Key\`: the same key with the same request has one effect within 24 hours.
Every single resource has an \`ETag\`, which a change may name in \`If-Match\`.
Errors have the body \`{"error": {"message", "type", "code", "param", "request_id"}}\`; the schema \`RefusalDetailDto\` lists the codes.`;

/** Name of the dashboard session's cookie in the document. */
const SESSION_SECURITY = 'dashboard-session';

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
    .addSecurityRequirements(API_KEY_SECURITY)
    .addSecurityRequirements(SESSION_SECURITY)
    .build();
  head.info.contact = { name: 'The maintainers of Gatehouse' };
  const document = structuredClone(SwaggerModule.createDocument(app, head, { operationIdFactory }));
  for (const operation of operationsOf<OpenApiOperation>(document)) nameCallers(operation);
  nameSecondPaths(document);
  if (!options.withDeprecated) dropDeprecated(document);
  listGroups(document);
  applyConstraints(document, bodiesOf(app));
  describePathParameters(document);
  describeResponses(document);
  dropPlainExamples(document);
  shareSchemas(document);
  addExamples(document);
  addLinks(document);
  shareParameters(document);
  shareResponses(document);
  return document;
}

/** `VirtualKeysController.create` becomes `virtualKeysCreate`: a stable name for generated clients. */
function operationIdFactory(controller: string, method: string, version?: string): string {
  const resource = controller.replace(/Controller$/, '');
  const name =
    resource.charAt(0).toLowerCase() + resource.slice(1) + method.charAt(0).toUpperCase() + method.slice(1);
  return version ? `${name}${version}` : name;
}

interface OpenApiOperation {
  operationId?: string;
  description?: string;
  deprecated?: boolean;
  security?: readonly object[];
  'x-scopes'?: readonly string[];
  'x-for-session'?: boolean;
  'x-step-up'?: boolean;
}

type OperationsByMethod = Record<string, OpenApiOperation>;

/** Says in the text of an operation who may call it. The decorators of access leave it in the operation. */
function nameCallers(operation: OpenApiOperation): void {
  const { description, 'x-for-session': isForSession, 'x-step-up': needsStepUp } = operation;
  if (isForSession) operation.security = [{ [SESSION_SECURITY]: [] }];
  operation['x-scopes'] ??= [];
  operation.description = [description, callersOf(operation) + (needsStepUp ? STEP_UP_TEXT : '')]
    .filter(Boolean)
    .join('\n\n');
  delete operation['x-for-session'];
  delete operation['x-step-up'];
}

const STEP_UP_TEXT = ' A session needs a sign-in or step-up within the last 10 minutes.';

function callersOf({
  security,
  'x-scopes': scopes = [],
  'x-for-session': isForSession,
}: OpenApiOperation): string {
  if (isForSession) return 'Open to users who are signed in to the dashboard.';
  if (security?.length === 0) return 'Needs no API key.';
  return scopes.length === 0 ? 'Open to every caller.' : `Scope: ${scopes.map(code).join(' or ')}.`;
}

const code = (scope: string): string => `\`${scope}\``;

/** A handler with several paths becomes as many operations; the framework numbers them. */
const NUMBER = /\[(\d+)\]$/;

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

interface ParameterOwner {
  readonly parameters?: readonly { readonly name: string; readonly in: string; description?: string }[];
}

/** Path parameters that their handler does not describe are ids: `userId` is the id of the user. */
function describePathParameters(document: OpenAPIObject): void {
  for (const { parameters = [] } of operationsOf<ParameterOwner>(document))
    for (const parameter of parameters)
      if (parameter.in === 'path') parameter.description ??= meaningOfId(parameter.name);
}

function meaningOfId(name: string): string {
  if (name === 'slug') return 'Slug or id of the resource.';
  return `Id of the ${name.replace(/_?id$/i, '') || 'resource'}.`;
}

/** Describes responses whose operation does not. */
function describeResponses(document: OpenAPIObject): void {
  for (const { responses } of operationsOf<{ responses: Record<string, OpenApiResponse> }>(document))
    for (const response of Object.values(responses))
      if (response.description === '') response.description = meaningOf(response);
}

interface OpenApiResponse {
  readonly content?: Readonly<Record<string, { readonly schema?: OpenApiSchema }>>;
  description?: string;
}

function meaningOf({ content = {} }: OpenApiResponse): string {
  const media = content['application/json'];
  if (!media) return 'The content, in parts as it is read.';
  const name = nameIn(media.schema) ?? '';
  if (name === 'DoneDto') return 'Done. The body is an empty object.';
  return name.endsWith('ListDto') ? 'A page of the list.' : 'Done. The body has the result.';
}

/** The groups of the document's operations, in the order of the table. */
function listGroups(document: OpenAPIObject): void {
  const used = new Set(operationsOf<{ tags?: string[] }>(document).flatMap(({ tags = [] }) => tags));
  document.tags = Object.values(GROUPS).filter(({ name }) => used.has(name));
}

/** The classes of all handler parameters, including bodies. */
function bodiesOf(app: INestApplication): Type[] {
  const controllers = new DiscoveryService(app.get(ModulesContainer)).getControllers();
  return controllers.flatMap(({ metatype }) => {
    const prototype = ((metatype as Type | null)?.prototype ?? {}) as object;
    return Object.getOwnPropertyNames(prototype).flatMap(
      (name) => (Reflect.getMetadata('design:paramtypes', prototype, name) ?? []) as Type[],
    );
  });
}
