/** First segments below /v1 that belong to the administration. Everything else is the gateway's. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'analytics',
  'api-keys',
  'audit-logs',
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

/** For what a client is told, that mistyped one of them. */
export const ADMINISTRATION_SEGMENTS: Iterable<string> = RESERVED;

const ROOT = '/v1/';
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
