import { Inject, Injectable } from '@nestjs/common';
import { SecretBox, type WrappedKey } from '../../common/crypto/envelope.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import { BodyObjects } from '../../request-log/bodies/body-objects.js';
import { ObjectStore } from '../../request-log/bodies/object-store.js';
import type { BodyRow, RequestBodyRow } from './request-parts.js';

const AT_ONCE = 8;
const KEY = 'SELECT id AS "organizationId", wrapped_key AS wrapped FROM organizations WHERE id = $1';

/** Loads bodies from the bucket for the rows that refer to them. Makes no request if none do. */
@Injectable()
export class StoredBodies {
  private readonly objects: BodyObjects | null;

  constructor(
    private readonly database: LogDatabase,
    @Inject(ObjectStore) store: ObjectStore | null,
    box: SecretBox,
  ) {
    this.objects = store && new BodyObjects(store, box);
  }

  /**
   * Rows of one organization with their bodies. Rejects when the bucket is unavailable: an export must be complete. A body whose object is
   * gone is marked as unreadable permanently.
   */
  async brought<Row extends RequestBodyRow>(
    organizationId: string,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    if (!rows.some(isInBucket)) return rows;
    const [key] = await this.database.read<WrappedKey>(KEY, [organizationId]);
    const brought: Row[] = [];
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const some = rows.slice(at, at + AT_ONCE);
      brought.push(...(await Promise.all(some.map((row) => this.one(key, row)))));
    }
    return brought;
  }

  /** The same for a single record: an unreadable body is marked as unavailable, and the rest is shown. */
  async broughtIfThere<Row extends RequestBodyRow>(
    organizationId: string,
    rows: readonly Row[],
  ): Promise<readonly Row[]> {
    try {
      return await this.brought(organizationId, rows);
    } catch {
      return rows.map((row) => (isInBucket(row) ? { ...row, is_out_of_reach: true } : row));
    }
  }

  private async one<Row extends RequestBodyRow>(key: WrappedKey | undefined, row: Row): Promise<Row> {
    if (!isInBucket(row)) return row;
    if (!this.objects || !key) throw new Error('A body lies in a bucket that the settings do not name.');
    const { request_id: requestId, direction, object_key, object_offset, object_length } = row;
    const place = { key: object_key, offset: Number(object_offset), length: object_length };
    const body = await this.objects.read(key, { requestId, direction }, place);
    return body ? { ...row, body } : { ...row, is_out_of_reach: true };
  }
}

interface StoredBodyLocation {
  readonly object_key: string;
  readonly object_offset: string;
  readonly object_length: number;
}

function isInBucket<Row extends BodyRow>(row: Row): row is Row & StoredBodyLocation {
  return row.body === null && typeof row.object_key === 'string';
}
