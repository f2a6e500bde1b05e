import { type KnownSession, SessionDirectory } from '../../auth/ports.js';
import { hasOneReach, sessionPrincipalOf } from '../../auth/tokens/token-subject.js';
import type { ChangeFeed } from '../../common/changes/change.js';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import type { Secret } from '../../common/settings/secret.js';
import type { Queryable } from '../../database/queryable.js';
import type { SessionSettings } from '../../common/settings/settings.js';
import { TokenSubjects } from '../tokens/token-subjects.js';

interface DirectorySessionRow {
  readonly id: string;
  readonly organization_id: string;
  readonly user_id: string;
  readonly created_at: Date;
  readonly last_seen_at: Date;
  readonly authenticated_at: Date;
  readonly is_recent: boolean;
}

/** Sessions that have not expired. $2 and $3: the maximum age and the maximum idle time, in milliseconds. */
export const NOT_OVER = `created_at > now() - $2 * interval '1 millisecond'
  AND last_seen_at > now() - $3 * interval '1 millisecond'`;

/** One write per minute marks a session as in use, regardless of its number of requests. */
const BY_SECRET = `
  WITH in_use AS (
    UPDATE sessions SET last_seen_at = now()
    WHERE secret_hash = $1 AND last_seen_at < now() - interval '1 minute' AND ${NOT_OVER}
  )
  SELECT id, organization_id, user_id, created_at, last_seen_at, authenticated_at,
    authenticated_at > now() - interval '10 minutes' AS is_recent
  FROM sessions session
  WHERE secret_hash = $1 AND ${NOT_OVER} AND EXISTS (
    SELECT FROM users WHERE users.id = session.user_id AND users.status = 'active')`;

/**
 * Sessions from PostgreSQL, never cached: a sign-out, a deactivation or a change of role in any process takes effect with the next request
 * in every process, without a message.
 */
export class PostgresSessionDirectory extends SessionDirectory {
  private readonly tokens: OpaqueTokens;
  private readonly subjects: TokenSubjects;

  constructor(
    private readonly database: Queryable,
    changes: ChangeFeed,
    pepper: Secret,
    private readonly settings: SessionSettings,
  ) {
    super();
    this.tokens = new OpaqueTokens(pepper);
    this.subjects = new TokenSubjects(database, changes, 0);
  }

  override async find(secret: string, workspace: string | null): Promise<KnownSession | null> {
    const { lifetimeMs, idleMs } = this.settings;
    const hash = this.tokens.hashOf('session', secret);
    const [row] = await this.database.query<DirectorySessionRow>(BY_SECRET, [hash, lifetimeMs, idleMs]);
    if (!row) return null;
    const named = { user: row.user_id, workspace, scopes: null };
    const subject = await this.subjects.of(row.organization_id, named);
    const principal = sessionPrincipalOf(workspace, subject);
    if (!principal || !subject.person) return null;
    return {
      id: row.id,
      organizationId: row.organization_id,
      userId: row.user_id,
      createdAt: row.created_at,
      lastSeenAt: row.last_seen_at,
      authenticatedAt: row.authenticated_at,
      isRecent: row.is_recent,
      principal,
      needsWorkspace: workspace === null && !hasOneReach(subject.person),
    };
  }
}
