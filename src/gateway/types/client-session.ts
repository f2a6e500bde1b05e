import type { IncomingHttpHeaders } from 'node:http';
import type { Json } from '../../providers/endpoint.js';

/**
 * Headers in which clients send the id of a session, most specific client first. The first valid one is the trace.
 * Claude Code: https://code.claude.com/docs/en/llm-gateway. Codex: https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/requests/headers.rs.
 * OpenCode: https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/llm.ts.
 */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** Members of a body that hold such an id, and how it is written there. */
const SESSION_MEMBERS: readonly ((body: Json) => unknown)[] = [
  ({ metadata }) => sessionOfUser(memberOf(metadata, 'user_id')),
  // Other clients share one key between all of their users; Codex sends the UUID of its thread.
  ({ prompt_cache_key: key }) => (typeof key === 'string' && UUID.test(key) ? key : null),
];

const SESSION = /^[\w.:@/+=-]{1,128}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const USER_CHARS_MAX = 1_024;
const IN_USER = /_session_([\w-]+)$/;

/** The client's session by its headers; null for none, and for a value that is not an id. */
export function sessionInHeaders(headers: IncomingHttpHeaders): string | null {
  for (const name of SESSION_HEADERS) {
    const session = validated(headers[name]);
    if (session !== null) return session;
  }
  return null;
}

/** The same by its parsed body. */
export function sessionInBody(body: Json): string | null {
  for (const read of SESSION_MEMBERS) {
    const session = validated(read(body));
    if (session !== null) return session;
  }
  return null;
}

const validated = (value: unknown): string | null =>
  typeof value === 'string' && SESSION.test(value) ? value : null;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Json)[name] : null;

/** Claude Code's user: JSON with a `session_id`, or `user_…_session_<id>` of older versions. */
function sessionOfUser(user: unknown): unknown {
  if (typeof user !== 'string' || user.length > USER_CHARS_MAX) return null;
  if (!user.startsWith('{')) return IN_USER.exec(user)?.[1];
  try {
    return memberOf(JSON.parse(user), 'session_id');
  } catch {
    return null;
  }
}
