import { createLogger } from '../../common/observability/logger.js';
import { CheckFailure, type ReadinessCheck } from '../../common/supervision/probes.js';
import type { Queryable } from '../queryable.js';

const logger = createLogger('database');

/**
 * The role of administrative requests. It owns no table and cannot log in, and the tables' policies show it the rows of one organization:
 * https://www.postgresql.org/docs/current/ddl-rowsecurity.html
 */
export const TENANT_ROLE = 'gatehouse_tenant';

/** Whether this login may set the role, and whether the role may use the tables of this database. */
export const RLS_READY = `
  SELECT EXISTS (
    SELECT FROM pg_roles role WHERE role.rolname = '${TENANT_ROLE}' AND pg_has_role(current_user, role.oid, 'MEMBER')
      AND has_table_privilege(role.oid, 'api_keys', 'SELECT')
  ) AS stands`;

/** Whether row-level security separates tenants. */
export async function hasRowLevelSecurity(database: Queryable): Promise<boolean> {
  const [found] = await database.query<{ stands: boolean }>(RLS_READY);
  return found?.stands === true;
}

export const RLS_IS_OFF =
  'Row-level security does not separate tenants. "gatehouse doctor" says what to do (docs/database.md).';

/** Warns at the start, before any request needs it. */
export async function warnWithoutRowLevelSecurity(database: Queryable): Promise<void> {
  if (!(await hasRowLevelSecurity(database))) logger.warn(RLS_IS_OFF);
}

const CHECK_FRESH_MS = 60_000;

/** For `/readyz?verbose`. Requests are served without it: queries separate tenants first. */
export const rowLevelSecurityCheck = (database: Queryable): ReadinessCheck => ({
  name: 'row-level security',
  isVital: false,
  freshMs: CHECK_FRESH_MS,
  run: async () => {
    if (!(await hasRowLevelSecurity(database))) throw new CheckFailure(RLS_IS_OFF);
  },
});
