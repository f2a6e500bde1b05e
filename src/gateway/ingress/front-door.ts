import { AppError } from '../../common/errors/app-error.js';

/** First segments below /v1 that the administration has built. It alone answers them. */
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
  'virtual-keys',
]);

/**
 * Names of the administration that providers use, too, and that it has not built. With a provider chosen, by any of the ways,
 * the path is the provider's; without one it is `not_built`.
 */
const SHARED: ReadonlySet<string> = new Set(['collections', 'labels', 'prompts']);

/**
 * Names of the administration that no provider uses and that it has not built. Requests to them carry credentials, so they are
 * `not_built` whatever else they say: nothing of them is read, logged or sent on.
 */
const UNBUILT: ReadonlySet<string> = new Set([
  'mcp-integrations',
  'mcp-servers',
  'scim',
  'secret-references',
]);

const ROOT = '/v1/';
/** The root itself: a provider's base URL, where one is chosen. */
export const BARE_ROOT = /^\/v1(?:\?|$)/;

/** What stands below `/v1/admin`, as it would be called without that: `/v1/workspaces` is a path of providers. */
const BELOW_ADMIN = ['users/invites', 'legal-holds', 'me', 'organisation', 'users', 'workspaces'].map(
  (path) => [path.slice(path.indexOf('/') + 1), `${ROOT}admin/${path}`] as const,
);

/** Paths of the administration by the word that a client looks for, to be told to one that mistyped them. */
export const ADMINISTRATION_PATHS: ReadonlyMap<string, string> = new Map([
  ...[...BUILT].map((segment) => [segment, ROOT + segment] as const),
  ...BELOW_ADMIN,
]);

/** Where uploads to Google in two steps go: https://ai.google.dev/api/files#method:-media.upload */
export const UPLOAD_ROOT = '/upload/v1beta/';

/**
 * Paths beside /v1 that belong to the gateway: clients write them behind the base address because they stand so at their own
 * provider. Google's (https://github.com/googleapis/js-genai/blob/main/src/_api_client.ts) and Azure's
 * (https://github.com/openai/openai-node/blob/master/src/azure.ts).
 */
const CLIENT_ROOTS = [
  '/v1beta/',
  '/v1alpha/',
  '/openai/',
  UPLOAD_ROOT,
  '/upload/v1alpha/',
  '/ws/google.ai.generativelanguage.',
  // As its client for JavaScript writes it.
  '//ws/google.ai.generativelanguage.',
] as const;

/** Whose a request is: the data plane's, the administration's, or of a part of the administration that is not built. */
export type RequestPlane = 'gateway' | 'administration' | 'unbuilt';

/**
 * Which plane a request belongs to, by its path alone.
 *
 * The first segment is compared decoded and in lower case, so that no spelling of an administrative
 * path can slip through to a provider, and an administrator's key with it.
 */
export function planeOf(target: string): RequestPlane {
  if (!target.startsWith(ROOT)) return isOfClients(target) ? 'gateway' : 'administration';
  const segment = firstSegment(target);
  if (BUILT.has(segment)) return 'administration';
  return UNBUILT.has(segment) ? 'unbuilt' : 'gateway';
}

const isOfClients = (target: string): boolean =>
  BARE_ROOT.test(target) || CLIENT_ROOTS.some((root) => target.startsWith(root));

/** The refusal of a path that belongs to an unbuilt part of the administration; null for every other path. */
export function notBuilt(target: string): AppError | null {
  const segment = target.startsWith(ROOT) ? firstSegment(target) : '';
  const reason = UNBUILT.has(segment) ? NOT_READ : SHARED.has(segment) ? CHOOSE_A_PROVIDER : null;
  return reason && new AppError('not_built', { detail: `${ROOT}${segment} is not built. ${reason}` });
}

const NOT_READ = 'The request was neither read nor kept.';
const CHOOSE_A_PROVIDER =
  "To call a provider's own path of this name, choose the provider: send x-gateway-virtual-key or x-gateway-provider.";

/** A segment of plain characters at the beginning of what follows `/v1/`, which nearly every path has. */
const PLAIN_SEGMENT = /^[\w-]+(?=[/?]|$)/;

/**
 * The first segment below /v1 that is not empty, in lower case. It is decoded once; an encoded slash or semicolon ends it as a
 * plain one does.
 */
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
