import { LRUCache } from 'lru-cache';
import type { LogRedaction } from '../../common/contracts/log-redaction.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { Redactor } from './redactor.js';

/** Rules of an organization or one of its workspaces. */
interface RuleRow {
  readonly organization_id: string;
  readonly workspace_id: string | null;
  readonly rules: LogRedaction;
}

/** The redactor of a workspace's requests; null when everything is logged. */
export type RedactorOf = (organizationId: string, workspaceId: string | null) => Redactor | null;

/** Of the organizations $1. */
const RULES = `
  SELECT id AS organization_id, NULL::uuid AS workspace_id, settings -> 'log_redaction' AS rules
  FROM organizations WHERE id = ANY ($1::uuid[]) AND settings ? 'log_redaction'
  UNION ALL
  SELECT organization_id, id, log_redaction FROM workspaces
  WHERE organization_id = ANY ($1::uuid[]) AND log_redaction IS NOT NULL
  UNION ALL
  SELECT organization_id, workspace_id, log_redaction FROM retention_of_removed_workspaces
  WHERE organization_id = ANY ($1::uuid[]) AND log_redaction IS NOT NULL`;

type ReadRows = (sql: string, parameters: unknown[]) => Promise<readonly RuleRow[]>;

/** The current rules: requests that arrive after a change are stored under the new rules. */
export async function readRedactors(
  read: (sql: string, parameters: unknown[]) => Promise<unknown[]>,
  organizationIds: Iterable<string>,
): Promise<RedactorOf> {
  const rows = (await (read as ReadRows)(RULES, [[...new Set(organizationIds)].filter(isUuid)])).map(
    (row) => [`${row.organization_id} ${row.workspace_id ?? ''}`, row.rules] as const,
  );
  if (rows.length === 0) return () => null;
  const byOwner = new Map(rows);
  return (organizationId, workspaceId) => {
    const rules = [
      byOwner.get(`${organizationId} `),
      workspaceId && byOwner.get(`${organizationId} ${workspaceId}`),
    ];
    return compiled(rules.filter((each): each is LogRedaction => Boolean(each)));
  };
}

const known = new LRUCache<string, Redactor>({ max: 200 });

/** Compiling patterns takes longer than applying them, so compiled ones are cached by their text. */
function compiled(rules: readonly LogRedaction[]): Redactor | null {
  if (rules.length === 0) return null;
  const text = JSON.stringify(rules);
  const found = known.get(text);
  if (found) return found;
  const redactor = new Redactor(rules);
  known.set(text, redactor);
  return redactor;
}
