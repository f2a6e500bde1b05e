import type { DataSource } from 'typeorm';
import type { WrappedKey } from '../../common/crypto/envelope.js';
import type {
  BodyFolder,
  BodyObjects,
  BodyLocation,
  BodyToKeep,
} from '../../request-log/bodies/body-objects.js';
import type { Consignment, LogBatch, LogDestination } from './log-sink.js';

/** A body on its way out of the database. */
interface OutgoingBody {
  readonly request_id: string;
  /** Exact, as text: the driver would drop microseconds. */
  readonly at: string;
  readonly day: string;
  readonly direction: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly body: Buffer;
}

const EXACT = `'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'`;

/** The row shows that the body is still here; a moved body is not sent again. */
const BODIES_OF_BATCH = `
  SELECT bodies.request_id, to_char(bodies.created_at AT TIME ZONE 'UTC', ${EXACT}) AS at,
    to_char(bodies.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day,
    bodies.direction, logs.organisation_id, logs.workspace_id, bodies.body
  FROM request_logs AS logs
  JOIN request_bodies AS bodies ON bodies.request_id = logs.id AND bodies.created_at = logs.created_at
  WHERE logs.batch_id = $1 AND logs.created_at BETWEEN $2 AND $3
    AND bodies.created_at BETWEEN $2 AND $3 AND bodies.body IS NOT NULL`;

/** Only bodies that the bucket has by now are removed from the database. */
const MOVED = `
  UPDATE request_bodies SET body = NULL, object_key = place.key, object_offset = place.offset, object_length = place.length
  FROM unnest($1::uuid[], $2::timestamptz[], $3::text[], $4::text[], $5::bigint[], $6::int[])
    AS place (id, at, direction, key, "offset", length)
  WHERE request_id = place.id AND created_at = place.at AND request_bodies.direction = place.direction AND body IS NOT NULL`;

const KEYS = `
  SELECT id AS "organizationId", wrapped_key AS wrapped FROM organizations WHERE id = ANY ($1::uuid[])`;

/** A batch of the log holds some 16 MiB of bodies; about this much is in memory before it is stored. */
const FULL_BYTES = 16 * 1024 * 1024;

/**
 * Moves bodies into the bucket. They are first stored in the database with their request, so an unavailable bucket loses none: until it
 * accepts them, they are read from the database and retried later.
 */
export class BodySink implements LogDestination {
  readonly id = 'bodies';
  readonly gathering = { rows: 1_000, seconds: 10 };

  constructor(
    private readonly database: DataSource,
    private readonly objects: BodyObjects,
  ) {}

  async deliver({ batches }: Consignment, signal: AbortSignal): Promise<void> {
    let gathered: OutgoingBody[] = [];
    let bytes = 0;
    for (const batch of batches) {
      const bodies = await this.bodiesOf(batch);
      gathered.push(...bodies);
      bytes += bodies.reduce((sum, { body }) => sum + body.length, 0);
      if (bytes < FULL_BYTES) continue;
      await this.move(gathered, signal);
      gathered = [];
      bytes = 0;
    }
    await this.move(gathered, signal);
  }

  /** The store is shared. */
  close(): Promise<void> {
    return Promise.resolve();
  }

  private bodiesOf({ id, first, last }: LogBatch): Promise<OutgoingBody[]> {
    return this.database.query<OutgoingBody[]>(BODIES_OF_BATCH, [id, first, last]);
  }

  private async move(bodies: readonly OutgoingBody[], signal: AbortSignal): Promise<void> {
    const organizations = [...new Set(bodies.map(({ organisation_id }) => organisation_id))];
    const keys = await this.database.query<WrappedKey[]>(KEYS, [organizations]);
    for (const group of grouped(bodies)) {
      const [first] = group;
      // A deleted organization no longer has a key; its bodies are removed with their day.
      const key = keys.find(({ organizationId }) => organizationId === first?.organisation_id);
      if (first && key) await this.moveGroup(key, group, signal);
    }
  }

  private async moveGroup(
    key: WrappedKey,
    group: readonly OutgoingBody[],
    signal: AbortSignal,
  ): Promise<void> {
    const [{ workspace_id: workspaceId, day } = { workspace_id: null, day: '' }] = group;
    const folder: BodyFolder = { organizationId: key.organizationId, workspaceId, day };
    const kept = group.map(({ request_id: requestId, direction, body: bytes }): BodyToKeep => ({
      requestId,
      direction,
      bytes,
    }));
    const places = await this.objects.put(key, folder, kept, signal);
    const ofPlaces = <T>(read: (place: BodyLocation) => T): T[] => places.map(read);
    await this.database.query(MOVED, [
      group.map(({ request_id }) => request_id),
      group.map(({ at }) => at),
      group.map(({ direction }) => direction),
      ofPlaces((place) => place.key),
      ofPlaces(({ offset }) => offset),
      ofPlaces(({ length }) => length),
    ]);
  }
}

/** Grouped by workspace and day. */
function grouped(bodies: readonly OutgoingBody[]): Iterable<readonly OutgoingBody[]> {
  const groups = new Map<string, OutgoingBody[]>();
  for (const body of bodies) {
    const name = `${body.organisation_id} ${body.workspace_id ?? ''} ${body.day}`;
    const group = groups.get(name);
    if (group) group.push(body);
    else groups.set(name, [body]);
  }
  return groups.values();
}
