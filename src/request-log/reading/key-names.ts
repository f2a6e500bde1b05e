import { Injectable } from '@nestjs/common';
import { LogDatabase } from './log-database.js';

const NAMES = 'SELECT id, name FROM api_keys WHERE organization_id = $1 AND id = ANY($2::uuid[])';

/** Names by the id of the API key. */
export type KeyNames = ReadonlyMap<string, string>;

/**
 * Names of the API keys of requests, of revoked keys too: their rows are kept for this. For callers that see these requests, and so the ids
 * of their keys.
 */
@Injectable()
export class KeyNamesReader {
  constructor(private readonly database: LogDatabase) {}

  async of(organizationId: string, ids: readonly (string | null)[]): Promise<KeyNames> {
    const keyIds = [...new Set(ids)].filter((id): id is string => id !== null && id !== '');
    if (keyIds.length === 0) return new Map();
    const rows = await this.database.read<{ readonly id: string; readonly name: string }>(NAMES, [
      organizationId,
      keyIds,
    ]);
    return new Map(rows.map(({ id, name }) => [id, name]));
  }

  /** Groups of requests by API key, with the names of the keys. */
  async added<Group extends { readonly value: string }>(
    organizationId: string,
    groups: readonly Group[],
  ): Promise<(Group & { readonly name: string | null })[]> {
    const names = await this.of(
      organizationId,
      groups.map(({ value }) => value),
    );
    return groups.map((group) => ({ ...group, name: names.get(group.value) ?? null }));
  }
}
