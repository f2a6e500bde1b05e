/**
 * Fills the administration for measurements: API keys, workspaces and an audit log whose chain holds, in the first
 * organization of the database. The service should not be running. Run `npm run build` first.
 *
 *   DATABASE_URL=postgres://… GATEHOUSE_MASTER_KEY=… node bench/seed-admin.mjs --keys 1000000 --workspaces 10000 --audit 1000000
 */
import { randomBytes } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { AuditSeal, BEFORE_THE_FIRST, chainHash } from '../dist/admin/audit/audit-seal.js';
import { written } from '../dist/admin/audit/canonical-record.js';
import { Secret } from '../dist/common/settings/secret.js';
import { uuidV7 } from '../dist/common/ids/uuid-v7.js';

const BATCH = 5_000;
const DAY_MS = 86_400_000;
const SCOPES = '{completions.write,logs.view}';

/** @param {{ url: string, masterKey: string, keys: number, workspaces: number, audit: number, say?: (line: string) => void }} job */
export async function seedAdministration({ url, masterKey, keys, workspaces, audit, say = console.error }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const {
      rows: [organization],
    } = await client.query('SELECT id FROM organizations ORDER BY created_at LIMIT 1');
    const seeding = { client, organizationId: organization.id, say };
    await seedWorkspaces(seeding, workspaces);
    // Each key's workspace is looked up, and a table that was empty a moment ago would be read from end to end for it.
    await client.query('ANALYZE workspaces');
    await seedKeys(seeding, keys);
    await seedAudit(seeding, new AuditSeal(new Secret(masterKey)), audit);
    say('seed: VACUUM ANALYZE, as autovacuum would have done by then');
    for (const table of ['workspaces', 'api_keys', 'audit_records'])
      await client.query(`VACUUM ANALYZE ${table}`);
    return organization.id;
  } finally {
    await client.end();
  }
}

async function seedWorkspaces({ client, organizationId, say }, count) {
  const now = Date.now();
  const columns = 'id, organization_id, name, slug, created_at';
  await copy({ client, say, what: 'workspaces', count, table: `workspaces (${columns})` }, (index) => {
    const at = now - DAY_MS + index;
    return [
      uuidV7(at),
      organizationId,
      `Workspace ${index}`,
      `ws-seeded-${now}-${index}`,
      new Date(at).toISOString(),
    ];
  });
}

async function seedKeys({ client, organizationId, say }, count) {
  const { rows } = await client.query('SELECT id FROM workspaces WHERE organization_id = $1', [
    organizationId,
  ]);
  const now = Date.now();
  const columns =
    'id, kind, organization_id, workspace_id, creation_mode, name, key_hash, prefix, last_four, scopes, created_at';
  await copy({ client, say, what: 'keys', count, table: `api_keys (${columns})` }, (index) => {
    const at = now - 30 * DAY_MS + index;
    const workspace = rows[index % rows.length].id;
    const hash = `\\\\x${randomBytes(32).toString('hex')}`;
    return [
      uuidV7(at),
      'workspace-service',
      organizationId,
      workspace,
      'api',
      `Key ${index}`,
      hash,
      'gw_ws_',
      'abcd',
      SCOPES,
      new Date(at).toISOString(),
    ];
  });
}

const AUDIT_COLUMNS = [
  'id',
  'seq',
  'organization_id',
  'workspace_id',
  'actor_kind',
  'actor_id',
  'actor_name',
  'user_id',
  'action',
  'target_type',
  'target_id',
  'at',
  'ip',
  'method',
  'path',
  'request',
  'before',
  'after',
  'outcome',
  'status',
  'error_code',
  'request_id',
  'hash',
  'seal',
];

/** Goes on where the chain of the organization ends. */
async function seedAudit({ client, organizationId, say }, seal, count) {
  await client.query(
    "INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING",
    [organizationId],
  );
  const {
    rows: [head],
  } = await client.query('SELECT seq, hash FROM audit_heads WHERE organization_id = $1', [organizationId]);
  const first = Number(head.seq);
  const began = Date.now() - count;
  let hash = first === 0 ? BEFORE_THE_FIRST : head.hash;
  await copy(
    { client, say, what: 'audit records', count, table: `audit_records (${AUDIT_COLUMNS.join(', ')})` },
    (index) => {
      const record = auditRecord(organizationId, String(first + 1 + index), began + index);
      const said = written(record);
      hash = chainHash(hash, said);
      const proof = seal.ofRecord({ organizationId, seq: record.seq, hash });
      const {
        id,
        seq,
        workspaceId,
        actorKind,
        actorId,
        actorName,
        action,
        targetType,
        targetId,
        ip,
        method,
        path,
        outcome,
        status,
        requestId,
      } = record;
      return [
        id,
        seq,
        organizationId,
        workspaceId,
        actorKind,
        actorId,
        actorName,
        null,
        action,
        targetType,
        targetId,
        said.at,
        ip,
        method,
        path,
        said.request,
        said.before,
        said.after,
        outcome,
        status,
        null,
        requestId,
        bytea(hash),
        bytea(proof),
      ];
    },
  );
  const end = { organizationId, seq: String(first + count), hash };
  await client.query('UPDATE audit_heads SET seq = $2, hash = $3, seal = $4 WHERE organization_id = $1', [
    organizationId,
    end.seq,
    hash,
    seal.ofEnd(end),
  ]);
}

const bytea = (bytes) => `\\\\x${bytes.toString('hex')}`;

function auditRecord(organizationId, seq, at) {
  const target = uuidV7(at);
  const slug = `key-${seq}`;
  return {
    id: uuidV7(at),
    seq,
    organizationId,
    workspaceId: target,
    actorKind: 'admin_key',
    actorId: target,
    actorName: 'First admin key',
    userId: null,
    action: 'virtual_keys.update',
    targetType: 'virtual_keys',
    targetId: target,
    at: new Date(at),
    ip: '203.0.113.7',
    method: 'PUT',
    path: `/v1/virtual-keys/${slug}`,
    request: { name: `Key ${seq}`, key: '***' },
    before: { slug, name: 'Before', note: null, status: 'active' },
    after: { slug, name: `Key ${seq}`, note: null, status: 'active' },
    outcome: 'success',
    status: 200,
    errorCode: null,
    requestId: uuidV7(at),
  };
}

/** COPY in the text format; every value made here has nothing to escape but the backslash of bytes. */
async function copy({ client, say, what, count, table }, rowAt) {
  const stream = client.query(copyFrom(`COPY ${table} FROM STDIN`));
  const done = new Promise((resolve, reject) => stream.on('finish', resolve).on('error', reject));
  const began = Date.now();
  for (let from = 0; from < count; from += BATCH) {
    let lines = '';
    for (let index = from; index < Math.min(count, from + BATCH); index++)
      lines += `${rowAt(index)
        .map((value) => value ?? '\\N')
        .join('\t')}\n`;
    if (!stream.write(lines)) await new Promise((resolve) => stream.once('drain', resolve));
    if ((from / BATCH) % 20 === 0)
      say(
        `seed: ${Math.min(count, from + BATCH)} of ${count} ${what}, ${Math.round((from + BATCH) / Math.max(1, (Date.now() - began) / 1000))}/s`,
      );
  }
  stream.end();
  await done;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { values } = parseArgs({
    options: {
      keys: { type: 'string', default: '1000000' },
      workspaces: { type: 'string', default: '10000' },
      audit: { type: 'string', default: '1000000' },
    },
  });
  const { DATABASE_URL: url, GATEHOUSE_MASTER_KEY: masterKey } = process.env;
  if (!url || !masterKey) {
    console.error(
      'usage: DATABASE_URL=postgres://… GATEHOUSE_MASTER_KEY=… node bench/seed-admin.mjs [--keys N] [--workspaces N] [--audit N]',
    );
    process.exit(1);
  }
  await seedAdministration({
    url,
    masterKey,
    keys: Number(values.keys),
    workspaces: Number(values.workspaces),
    audit: Number(values.audit),
  });
}
