import { AppError } from '../../common/errors/app-error.js';

/** First segments below /v1 that only the administration serves. */
const BUILT: ReadonlySet<string> = new Set([
  'admin',
  'analytics',
  'api-keys',
  'audit-logs',
  'auth',
  'configs',
  'feedback',
  'guardrails',
  'integrations',
  'limits',
  'logs',
  'model-configs',
  'organisations',
  'otel',
  'policies',
  'provider-catalog',
  'providers',
  'secret-references',
  'virtual-keys',
]);

/**
 * First segments of the administration API that providers use too, and that are not built. If the request names a provider, in any way, the
 * path is the provider's; otherwise the error is `not_built`.
 */
const SHARED: ReadonlySet<string> = new Set(['collections', 'labels', 'prompts']);

/**
 * First segments of the administration API that no provider uses, and that are not built. Requests to them carry credentials, so the error
 * is always `not_built`: nothing of them is read, logged or forwarded.
 */
const UNBUILT: ReadonlySet<string> = new Set(['mcp-integrations', 'mcp-servers', 'scim']);

const ROOT = '/v1/';
/** The root itself: a provider's base URL, if the request names one. */
export const BARE_ROOT = /^\/v1(?:\?|$)/;

/** Resources below `/v1/admin`, by their path without `admin/`: `/v1/workspaces` is a provider's path. */
const BELOW_ADMIN = ['users/invites', 'legal-holds', 'me', 'organisation', 'users', 'workspaces'].map(
  (path) => [path.slice(path.indexOf('/') + 1), `${ROOT}admin/${path}`] as const,
);

/** Paths of the administration by a word that clients may try, for suggestions after a mistyped path. */
export const ADMINISTRATION_PATHS: ReadonlyMap<string, string> = new Map([
  ...[...BUILT].map((segment) => [segment, ROOT + segment] as const),
  ...BELOW_ADMIN,
]);

/** Roots of two-step uploads to Google, one for each version of its API: https://ai.google.dev/api/files#method:-media.upload */
export const UPLOAD_ROOTS = ['/upload/v1/', '/upload/v1beta/', '/upload/v1alpha/'] as const;

/**
 * Paths outside of /v1 that belong to the gateway, because clients append them to the base URL as at their own provider: Google's
 * (https://github.com/googleapis/js-genai/blob/main/src/_api_client.ts) and Azure's
 * (https://github.com/openai/openai-node/blob/master/src/azure.ts).
 */
const CLIENT_ROOTS = [
  '/v1beta/',
  '/v1alpha/',
  '/openai/',
  ...UPLOAD_ROOTS,
  '/ws/google.ai.generativelanguage.',
  // As written by Google's JavaScript client.
  '//ws/google.ai.generativelanguage.',
] as const;

/** The owner of a request: the data plane, the administration, or an unbuilt part of the administration. */
export type RequestPlane = 'gateway' | 'administration' | 'unbuilt';

/**
 * The plane of a request, by its path alone.
 *
 * The first segment is compared decoded and in lower case, so that no spelling of an administrative path reaches a provider, and with it an
 * administrator's key.
 */
export function planeOf(target: string): RequestPlane {
  if (!target.startsWith(ROOT)) return isOfClients(target) ? 'gateway' : 'administration';
  const segment = firstSegment(target);
  if (BUILT.has(segment)) return 'administration';
  return UNBUILT.has(segment) ? 'unbuilt' : 'gateway';
}

const isOfClients = (target: string): boolean =>
  BARE_ROOT.test(target) || CLIENT_ROOTS.some((root) => target.startsWith(root));

/** The error for a path of an unbuilt part of the administration; null for every other path. */
export function notBuilt(target: string): AppError | null {
  const segment = target.startsWith(ROOT) ? firstSegment(target) : '';
  const reason = UNBUILT.has(segment) ? NOT_READ : SHARED.has(segment) ? CHOOSE_A_PROVIDER : null;
  return reason && new AppError('not_built', { detail: `${ROOT}${segment} is not built. ${reason}` });
}

const NOT_READ =
  "The gateway did not read, forward or log the request. To reach a provider's own path of this name, use /v1/proxy/<path>.";
const CHOOSE_A_PROVIDER =
  "To call a provider's own path of this name, choose the provider: send x-gateway-virtual-key or x-gateway-provider, or use /v1/proxy/<path>.";

/** A segment of plain characters after `/v1/`, which nearly every path has. */
const PLAIN_SEGMENT = /^[\w-]+(?=[/?]|$)/;

/** The first non-empty segment below /v1, in lower case. It is decoded once; an encoded slash or semicolon ends it like a plain one. */
export function firstSegment(target: string): string {
  const below = target.slice(ROOT.length);
  const [plain] = PLAIN_SEGMENT.exec(below) ?? [];
  if (plain !== undefined) return plain.toLowerCase();
  const path = below.split('?', 1)[0] as string;
  const names = path.split(SEPARATORS).flatMap((segment) => decoded(segment).split(SEPARATORS));
  return (
    names.map((name) => name.split(';', 1)[0] as string).find((name) => name !== '') ?? ''
  ).toLowerCase();
}

const SEPARATORS = /[/\\?#]/;

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
