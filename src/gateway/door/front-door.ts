/** First segments below /v1 that belong to the administration. Everything else is the gateway's. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'analytics',
  'api-keys',
  'audit-logs',
  'auth',
  'collections',
  'configs',
  'feedback',
  'guardrails',
  'integrations',
  'labels',
  'logs',
  'model-configs',
  'organisations',
  'otel',
  'policies',
  'prompts',
  'providers',
  'scim',
  'secret-references',
  'virtual-keys',
]);

const ROOT = '/v1/';

/** What stands below `/v1/admin`, as it would be called without that: `/v1/workspaces` is a path of providers. */
const BELOW_ADMIN = ['users/invites', 'legal-holds', 'me', 'organisation', 'users', 'workspaces'].map(
  (path) => [path.slice(path.indexOf('/') + 1), `${ROOT}admin/${path}`] as const,
);

/** Paths of the administration by the word that a client looks for, to be told to one that mistyped them. */
export const ADMINISTRATION_PATHS: ReadonlyMap<string, string> = new Map([
  ...[...RESERVED].map((segment) => [segment, ROOT + segment] as const),
  ...BELOW_ADMIN,
]);
/** Google's clients write a version of their own behind the base address. */
export const GOOGLE_ROOT = '/v1beta/';
/** The same before files that they upload: https://ai.google.dev/api/files#method:-media.upload */
export const UPLOAD_ROOT = `/upload${GOOGLE_ROOT}`;

export type Plane = 'gateway' | 'administration';

/**
 * Which plane a request belongs to, by its path alone.
 *
 * The first segment is compared decoded and in lower case, so that no spelling of an administrative
 * path can slip through to a provider, and an administrator's key with it.
 */
export function planeOf(target: string): Plane {
  if (!target.startsWith(ROOT)) return isGooglesWay(target) ? 'gateway' : 'administration';
  const segment = firstSegment(target);
  return RESERVED.has(segment) ? 'administration' : 'gateway';
}

const isGooglesWay = (target: string): boolean =>
  target.startsWith(GOOGLE_ROOT) || target.startsWith(UPLOAD_ROOT);

/** Below /v1, decoded and in lower case. */
export function firstSegment(target: string): string {
  let end = ROOT.length;
  while (end < target.length && !isEnd(target.charCodeAt(end))) end++;
  const segment = target.slice(ROOT.length, end);
  return decoded(segment).toLowerCase();
}

const SLASH = 0x2f;
const QUESTION_MARK = 0x3f;
const HASH = 0x23;
const BACKSLASH = 0x5c;
const SEMICOLON = 0x3b;

function isEnd(code: number): boolean {
  return (
    code === SLASH || code === QUESTION_MARK || code === HASH || code === BACKSLASH || code === SEMICOLON
  );
}

/** Decodes once; an encoded slash or semicolon ends the segment as a plain one would. */
function decoded(segment: string): string {
  if (!segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment).split(/[/\\;?#]/, 1)[0] as string;
  } catch {
    return segment;
  }
}
