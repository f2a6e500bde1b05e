import type { Queryable } from '../../database/queryable.js';
import { type CachedResponseKey, AnswerStore } from '../../gateway/ports.js';

interface CachedResponseRow {
  readonly sealed: Buffer;
}

const FIND = `
  SELECT sealed FROM cached_answers
  WHERE organization_id = $1 AND workspace_id = $2 AND key = $3 AND expires_at > now()`;

const KEEP = `
  INSERT INTO cached_answers (organization_id, workspace_id, key, sealed, expires_at) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (organization_id, workspace_id, key)
  DO UPDATE SET sealed = excluded.sealed, kept_at = now(), expires_at = excluded.expires_at`;

/** Cached responses in PostgreSQL. The background process removes expired rows, and the oldest ones when there are too many. */
export class PostgresAnswerStore extends AnswerStore {
  constructor(private readonly database: Queryable) {
    super();
  }

  override async find(place: CachedResponseKey): Promise<Buffer | null> {
    const [row] = await this.database.query<CachedResponseRow>(FIND, columnsOf(place));
    return row ? row.sealed : null;
  }

  override async keep(place: CachedResponseKey, answer: Buffer, expiresAt: number): Promise<void> {
    await this.database.query(KEEP, [...columnsOf(place), answer, new Date(expiresAt)]);
  }
}

function columnsOf({ organizationId, workspaceId, key }: CachedResponseKey): unknown[] {
  return [organizationId, workspaceId, Buffer.from(key, 'hex')];
}
