import { readScopes } from '../../admin/api-keys/grants.js';
import type { JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, specified } from './change.js';
import { limitsIn } from './declared-limits.js';
import type { DeclaredApiKey } from './document.js';
import type { PlanningContext } from './planning.js';

/** The requests that give existing API keys the file's values. */
export async function planApiKeys(
  planning: PlanningContext,
  declared: readonly (DeclaredApiKey | undefined)[],
): Promise<DeclaredChange[]> {
  if (declared.length === 0) return [];
  const known = await planning.client.all('/v1/api-keys');
  const changes: DeclaredChange[] = [];
  for (const [index, key] of declared.entries()) {
    if (key === undefined) continue;
    for (const [place, scope] of key.scopes.entries())
      planning.judge(['api_keys', index, 'scopes', place], () => readScopes([scope], key.type));
    const current = await meant(planning, { key, index, known });
    if (current) changes.push(...changesOf(key, current));
  }
  return changes;
}

interface PlannedApiKey {
  readonly key: DeclaredApiKey;
  readonly index: number;
  readonly known: readonly JsonRecord[];
}

/** The key that an entry refers to; null, with a mistake noted, if there is none or several. */
async function meant(
  planning: PlanningContext,
  { key, index, known }: PlannedApiKey,
): Promise<JsonRecord | null> {
  const { workspace } = key;
  const place =
    workspace === undefined ? undefined : await planning.idOf(workspace, ['api_keys', index, 'workspace']);
  if (workspace !== undefined && place === undefined) return null;
  const id = key.id?.toLowerCase();
  const matches = known.filter(
    (one) =>
      one.type === key.type &&
      one.name === key.name &&
      (place === undefined || one.workspace_id === place) &&
      (id === undefined || one.id === id),
  );
  const [current] = matches;
  if (current && matches.length === 1) return current;
  const several = `is the name of ${matches.length} API keys; choose one with "workspace" or "id"`;
  if (id === undefined) planning.note(['api_keys', index, 'name'], current ? several : NO_SUCH_NAME);
  else planning.note(['api_keys', index, 'id'], NO_SUCH_ID);
  return null;
}

const NO_SUCH_NAME = 'is not the name of an API key. Create it first: its secret is shown only once';
const NO_SUCH_ID = 'is not the id of an API key with that name, type and workspace';

function changesOf(key: DeclaredApiKey, current: JsonRecord): DeclaredChange[] {
  const sorted = (scopes: unknown): string[] => [...(scopes as string[])].sort();
  const scopes = sorted(new Set(key.scopes));
  const target = { ...specified({ description: key.description, scopes }), ...limitsIn(key) };
  const path = `/v1/api-keys/${String(current.id)}`;
  return updated(
    { what: `API key "${key.name}"`, path },
    { ...current, scopes: sorted(current.scopes), ...limitsIn(current) },
    target,
  );
}
