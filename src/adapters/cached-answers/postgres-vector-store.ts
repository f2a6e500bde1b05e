import type { Queryable } from '../../database/queryable.js';
import { type KeptVector, type VectorNamespace, VectorStore } from '../../gateway/ports.js';

interface VectorRow {
  readonly key: Buffer;
  readonly sealed: Buffer;
  readonly expires_at: Date;
}

const OF_NAMESPACE = 'organization_id = $1 AND workspace_id = $2 AND room = $3';

const NEWEST = `
  SELECT key, sealed, expires_at FROM cached_vectors WHERE ${OF_NAMESPACE} AND expires_at > now()
  ORDER BY kept_at DESC LIMIT $4`;

/** Maximum rows removed from a full namespace for each new one. More than one, so that an overfilled namespace shrinks. */
const REMOVALS_MAX = 10;

const KEEP = `
  WITH surplus AS (
    DELETE FROM cached_vectors WHERE ${OF_NAMESPACE} AND key = ANY (ARRAY(
      SELECT key FROM cached_vectors WHERE ${OF_NAMESPACE} AND key <> $4
      ORDER BY kept_at DESC OFFSET $7 - 1 LIMIT ${REMOVALS_MAX} FOR UPDATE SKIP LOCKED)))
  INSERT INTO cached_vectors (organization_id, workspace_id, room, key, sealed, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (organization_id, workspace_id, room, key)
  DO UPDATE SET sealed = excluded.sealed, kept_at = now(), expires_at = excluded.expires_at`;

/** Vectors of cached requests in PostgreSQL. The background process removes expired rows, and the oldest ones when there are too many. */
export class PostgresVectorStore extends VectorStore {
  constructor(private readonly database: Queryable) {
    super();
  }

  override async newest(namespace: VectorNamespace, most: number): Promise<readonly KeptVector[]> {
    const rows = await this.database.query<VectorRow>(NEWEST, [...columnsOf(namespace), most]);
    return rows.map(({ key, sealed, expires_at }) => ({
      key: key.toString('hex'),
      vector: sealed,
      expiresAt: expires_at.getTime(),
    }));
  }

  override async keep(
    namespace: VectorNamespace,
    { key, vector, expiresAt }: KeptVector,
    most: number,
  ): Promise<void> {
    const kept = [Buffer.from(key, 'hex'), vector, new Date(expiresAt)];
    await this.database.query(KEEP, [...columnsOf(namespace), ...kept, most]);
  }
}

function columnsOf({ organizationId, workspaceId, digest }: VectorNamespace): unknown[] {
  return [organizationId, workspaceId, Buffer.from(digest, 'hex')];
}
