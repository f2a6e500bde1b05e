/** Its holds that were not released. */
const heldWhere = (condition: string): string =>
  `EXISTS (SELECT 1 FROM legal_holds WHERE legal_holds.released_at IS NULL AND ${condition}) AS held`;

/** A `RetentionRule` for each matching organization, and for each of its workspaces that differs. */
const rulesWhere = (condition: string): string => `
  SELECT * FROM (
    SELECT id AS organization_id, NULL::uuid AS workspace_id,
      (settings ->> 'log_retention_days')::int AS logs, (settings ->> 'body_retention_days')::int AS bodies,
      ${heldWhere('legal_holds.organization_id = organizations.id AND legal_holds.workspace_id IS NULL')}
    FROM organizations
    UNION ALL
    SELECT organization_id, id, log_retention_days, body_retention_days,
      ${heldWhere('legal_holds.organization_id = workspaces.organization_id AND legal_holds.workspace_id = workspaces.id')}
    FROM workspaces
    UNION ALL
    SELECT organization_id, workspace_id, log_retention_days, body_retention_days, false
    FROM retention_of_removed_workspaces
  ) AS rules WHERE ${condition} AND (logs IS NOT NULL OR bodies IS NOT NULL OR held)`;

/** Of all organizations. */
export const ALL_RULES = rulesWhere('true');

/** Of the organization $1. */
export const RULES_OF_ORGANIZATION = rulesWhere('organization_id = $1::uuid');
