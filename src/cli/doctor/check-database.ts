import type { Client } from 'pg';
import type { Secret } from '../../common/settings/secret.js';
import type { Settings } from '../../common/settings/settings.js';
import { TENANT_ROLE, RLS_READY } from '../../database/sessions/rls-check.js';
import { postgresClient } from '../../database/sessions/postgres-connections.js';
import { PARTITIONED } from '../../request-log/store/partitions.js';
import { place } from '../database/await-database.js';
import { readSchemaState } from '../database/schema-state.js';
import { connectionsNeeded } from '../launch-plan.js';
import { failed, type DoctorFinding, ok, errorText, warning } from './finding.js';
import { judgeSkew } from './judge-skew.js';

const OLDEST_VERSION = 14;

/** Facts reported by the server. */
interface ServerFacts {
  readonly version_num: number;
  readonly encoding: string;
  readonly may_create: boolean;
  readonly max_connections: number;
  readonly now_ms: number;
}

const FACTS = `
  SELECT current_setting('server_version_num')::int AS version_num,
         pg_encoding_to_char(encoding) AS encoding,
         has_database_privilege(oid, 'CREATE') AND coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
         current_setting('max_connections')::int AS max_connections,
         (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now_ms
  FROM pg_database WHERE datname = current_database()`;

export async function checkDatabase(url: Secret, settings: Settings): Promise<DoctorFinding[]> {
  const client = postgresClient('probing', {
    connectionString: url.reveal(),
    application_name: 'gatehouse doctor',
  });
  try {
    await client.connect();
    const before = Date.now();
    const { rows } = await client.query<ServerFacts>(FACTS);
    const facts = rows[0];
    if (!facts) throw new Error('the server reports no database');
    return [
      ...judgeServer(facts, connectionsNeeded(settings)),
      judgeSkew(facts.now_ms, { before, after: Date.now() }, 'the database'),
      await checkSchema(url),
      ...(await checkRowLevelSecurity(client)),
      ...(await checkStrays(client)),
      ...(await checkInbox(client)),
    ];
  } catch (error) {
    return [
      failed(
        'Database',
        `${place(url)}: ${errorText(error)}`,
        'Check DATABASE_URL and that the server runs.',
      ),
    ];
  } finally {
    // Not awaited: after a connection that the server refused, pg's `end` may never settle.
    void client.end().catch(() => undefined);
  }
}

export function judgeServer(facts: ServerFacts, connections: number): DoctorFinding[] {
  const major = Math.floor(facts.version_num / 10_000);
  const version = `PostgreSQL ${major}`;
  const findings: DoctorFinding[] = [];
  if (major < OLDEST_VERSION)
    findings.push(failed('Database', version, `PostgreSQL ${OLDEST_VERSION} or newer is needed.`));
  if (facts.encoding !== 'UTF8')
    findings.push(failed('Database', `encoding ${facts.encoding}`, 'Use a database with UTF8.'));
  if (!facts.may_create)
    findings.push(
      failed(
        'Database',
        'no permission to create',
        'Grant CREATE on the database and on its schema to this user.',
      ),
    );
  if (facts.max_connections < connections)
    findings.push(
      warning(
        'Database',
        `${facts.max_connections} connections`,
        `This instance may use ${connections}: raise max_connections, or lower DATABASE_POOL_SIZE.`,
      ),
    );
  return findings.length > 0 ? findings : [ok('Database', version)];
}

/** No findings for a schema that does not exist yet. */
async function checkRowLevelSecurity(client: Client): Promise<DoctorFinding[]> {
  const { rows } = await client.query<{ made: boolean }>(
    "SELECT to_regproc('protect_tenant_tables') IS NOT NULL AS made",
  );
  if (!rows[0]?.made) return [];
  const findings = await client.query<{ stands: boolean }>(RLS_READY);
  return [rowLevelSecurityFinding(findings.rows[0]?.stands === true)];
}

export function rowLevelSecurityFinding(stands: boolean): DoctorFinding {
  if (stands) return ok('Tenants', 'separated by row-level security');
  return warning(
    'Tenants',
    'separated only by the queries, without row-level security',
    `As a superuser: CREATE ROLE ${TENANT_ROLE} NOLOGIN; GRANT ${TENANT_ROLE} TO <this user>; then as this user: SELECT protect_tenant_tables();`,
  );
}

/** No findings for a log that does not exist yet, or has no rows in a default partition. */
async function checkStrays(client: Client): Promise<DoctorFinding[]> {
  const tables: string[] = [];
  for (const table of PARTITIONED) {
    const made = await client.query<{ made: boolean }>('SELECT to_regclass($1) IS NOT NULL AS made', [
      `${table}_default`,
    ]);
    if (!made.rows[0]?.made) continue;
    const { rows } = await client.query<{ held: boolean }>(
      `SELECT EXISTS (SELECT FROM ${table}_default) AS held`,
    );
    if (rows[0]?.held) tables.push(table);
  }
  return judgeStrays(tables);
}

export function judgeStrays(tables: readonly string[]): DoctorFinding[] {
  if (tables.length === 0) return [];
  return [
    warning(
      'Request log',
      `rows outside of its days in ${tables.join(', ')}`,
      'Retention cannot drop them: the clock of a machine was wrong. Correct it, and delete the rows in the tables that end in _default.',
    ),
  ];
}

const INBOX_TIMEOUT_S = 60;

/** No findings for an inbox that does not exist yet, or is being emptied. */
async function checkInbox(client: Client): Promise<DoctorFinding[]> {
  const made = await client.query<{ made: boolean }>(
    "SELECT to_regclass('ingested_logs') IS NOT NULL AS made",
  );
  if (!made.rows[0]?.made) return [];
  const { rows } = await client.query<{ age_s: number | null }>(
    'SELECT extract(epoch FROM now() - min(created_at))::float8 AS age_s FROM ingested_logs',
  );
  return judgeInbox(rows[0]?.age_s ?? 0);
}

export function judgeInbox(oldestS: number): DoctorFinding[] {
  if (oldestS < INBOX_TIMEOUT_S) return [];
  return [
    warning(
      'Logs of calls made elsewhere',
      `the oldest has waited for ${Math.round(oldestS)} s`,
      'No process stores them. Start a background process (role "worker" or "all") and read its log. Beyond GATEHOUSE_INBOX_LIMIT_BYTES more are refused.',
    ),
  ];
}

async function checkSchema(url: Secret): Promise<DoctorFinding> {
  const { pending, later } = await readSchemaState(url, null);
  if (pending.length === 0)
    return ok(
      'Migrations',
      later.length === 0 ? 'all done' : `all done, and ${later.length} of a later release`,
    );
  return warning(
    'Migrations',
    `${pending.length} pending`,
    'The next start runs them, or "gatehouse migrate" does.',
  );
}
