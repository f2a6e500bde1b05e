/**
 * Writes the pages of docs/ that are generated from tables in the source, the dashboards of Grafana, and the OpenAPI document. Run `npm run build` first: it reads the
 * built tables. With `--check` it writes nothing and fails when a page is outdated.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { buildOpenApi } from '../dist/admin/openapi/document.js';
import { AdministrationModule } from '../dist/administration.module.js';
import { commandsPage } from '../dist/cli/commands/commands-page.js';
import { SWITCHES } from '../dist/auth/permissions/switches.js';
import { SCOPES } from '../dist/auth/scopes.js';
import { createDataSource } from '../dist/schema/data-source.js';
import { ERRORS } from '../dist/common/errors/catalog.js';
import { loadSettings } from '../dist/common/settings/settings.js';
import { settingsSchema } from '../dist/common/settings/settings-schema.js';
import { coverageTable } from '../dist/gateway/guardrails/covered/coverage-table.js';
import { originHeadersTable } from '../dist/gateway/upstream/origin-headers.js';
import { catalogPage } from '../dist/providers/catalog-page.js';
import { unreadTable } from '../dist/gateway/guardrails/unread-table.js';
import { chargingTable, endpointsPage, limitEffectsTable } from '../dist/providers/endpoints-page.js';
import { dashboardJson, dashboardNames } from './grafana/panels.mjs';
import { capacityTables } from './capacity-table.mjs';
import { metricRows } from './metrics-table.mjs';
import { roomArrows } from './room-arrows.mjs';

const cell = (text) => String(text).replaceAll('|', '\\|');
const row = (...cells) => `| ${cells.map(cell).join(' | ')} |`;
const table = (heads, rows) =>
  [row(...heads), row(...heads.map(() => '---')), ...rows.map((cells) => row(...cells))].join('\n');
const page = (title, intro, body) => `# ${title}\n\n${intro}\n\n${body}\n`;

/** Defaults that depend on the machine are described in the setting's own text. */
const MACHINE_DEPENDENT = new Set(['GATEHOUSE_PROCESSES']);

function defaultOf(name, schema) {
  if (MACHINE_DEPENDENT.has(name)) return 'one per core';
  const given = schema.safeParse(undefined);
  return given.success && given.data !== undefined && given.data !== '' ? `\`${given.data}\`` : '–';
}

function settingsPage() {
  const rows = Object.entries(settingsSchema.shape).map(([name, schema]) => [
    `\`${name}\``,
    defaultOf(name, schema),
    schema.description,
  ]);
  const intro =
    'All settings are environment variables. The start checks them all and reports every mistake at once. ' +
    'Settings that end in `_MS` are milliseconds, or a number with its unit: `900ms`, `90s`, `15m`, `12h`, `7d`. ' +
    'Secrets (`DATABASE_URL`, `REDIS_URL`, `CLICKHOUSE_URL`, `GATEHOUSE_MASTER_KEY`, `GATEHOUSE_KEY_PEPPER`, `GATEHOUSE_METRICS_TOKEN`, `GATEHOUSE_SMTP_URL`, `GATEHOUSE_S3_SECRET_ACCESS_KEY`, `GATEHOUSE_SINK_WEBHOOK_SECRET`) can also be read from a file: set `NAME_FILE` to its path.';
  return page('Settings', intro, table(['Setting', 'Default', 'Meaning'], rows));
}

function errorsPage() {
  const rows = Object.entries(ERRORS).map(([code, { status, type, message, elsewhere }]) => [
    status,
    `\`${code}\``,
    `\`${type}\``,
    elsewhere ? 'yes' : '',
    message,
  ]);
  rows.sort(([a], [b]) => a - b);
  const intro =
    'Errors of the gateway itself. The response has the header `x-gateway-error-source: gateway` and the body ' +
    '`{"error": {"message", "type", "code", "param", "request_id"}}`; at the paths of Anthropic and Google, the error has [their format](clients.md#errors-in-coding-agents). A provider\'s own error keeps its status and body, and the header is `provider`. ' +
    '`{detail}` names the field or value, what is wrong with it, and what to do. `{hint}` suggests the nearest known name, and `{where}` is the provider with its host. ' +
    'The column "Other target" marks errors that another target or attempt may not have.';
  return page('Errors', intro, table(['Status', 'Code', 'Type', 'Other target', 'Message'], rows));
}

/** Most operations in a cell; OpenAPI names all. */
const OPERATIONS_SHOWN = 6;

/** The operations of the administration by the scopes that each requires. */
async function operationsByScope() {
  const { paths } = JSON.parse(await openApi());
  const found = new Map();
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations))
      for (const scope of operation['x-scopes'] ?? [])
        found.set(scope, [...(found.get(scope) ?? []), `\`${method.toUpperCase()} ${path}\``]);
  return found;
}

/** The scope of the data plane, which has more paths than a table can list. */
const MODEL_REQUESTS = [
  'completions.write',
  'model requests: every path below /v1 that is not of the administration',
];

function opened(scope, operations = []) {
  if (scope === MODEL_REQUESTS[0]) return MODEL_REQUESTS[1];
  if (operations.length === 0) return 'nothing yet: not built';
  const [shown, rest] = [operations.slice(0, OPERATIONS_SHOWN), operations.slice(OPERATIONS_SHOWN)];
  return [...shown, ...(rest.length > 0 ? [`and ${rest.length} more`] : [])].join('<br>');
}

async function scopesPage() {
  const mark = (is) => (is ? 'yes' : '–');
  const operations = await operationsByScope();
  const rows = Object.entries(SCOPES).map(([scope, { admin, service, user }]) => [
    `\`${scope}\``,
    mark(admin),
    mark(service),
    mark(user),
    opened(scope, operations.get(scope)),
  ]);
  const intro =
    'Scopes are the permissions of credentials. The columns show which kinds of API key can carry each, and the operations that it opens. ' +
    '[API keys](api-keys.md) explains how to create a key with scopes.';
  return page(
    'Scopes',
    intro,
    table(['Scope', 'Admin key', 'Workspace service key', 'Workspace user key', 'Opens'], rows),
  );
}

/** The administration without a database: only its structure is read. */
async function openApi() {
  const url = 'postgres://localhost/unused';
  const module = AdministrationModule.register(loadSettings({ DATABASE_URL: url }), createDataSource(url));
  const app = await NestFactory.create(module, new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return `${written(buildOpenApi(app))}\n`;
}

/** Values below this depth take one line each: a field of a schema, an operation. */
const EXPANDED = { paths: 3, others: 5 };

/** JSON with a line per part that readers compare: fully indented, the document would be half blanks. */
function written(value, depth = 0, most = EXPANDED.others) {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  if (depth >= most || entries.length === 0) return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const blanks = ' '.repeat(depth);
  const lines = entries
    .filter(([, part]) => part !== undefined)
    .map(
      ([key, part]) =>
        `${Array.isArray(value) ? '' : `${JSON.stringify(key)}: `}${written(part, depth + 1, depth === 0 && key === 'paths' ? EXPANDED.paths : most)}`,
    );
  return `${open}\n${lines.map((line) => `${blanks} ${line}`).join(',\n')}\n${blanks}${close}`;
}

/** A table that the tests use. */
async function tableOfTests(name) {
  const input = fileURLToPath(new URL(`../test/integration/admin/${name}.table.ts`, import.meta.url));
  const bundle = await rolldown({ input });
  const { output } = await bundle.generate({ format: 'esm' });
  await bundle.close();
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString('base64')}`);
}

const { CALLERS, PERMISSIONS } = await tableOfTests('permissions');
const { AUTHORITIES, CHANGES } = await tableOfTests('authority');

/** Which operations set up or hand out the authority of a user, and what becomes of it. */
function authoritiesTable() {
  const rows = Object.entries(AUTHORITIES).map(([name, { setBy, carries, afterLoss }]) => [
    name,
    setBy,
    carries,
    afterLoss,
    CHANGES.filter(({ authorities }) => authorities.includes(name))
      .map(({ operation }) => `\`${operation}\``)
      .join('<br>'),
  ]);
  return table(['Resource', 'Set up by', 'Authority', 'When that user loses rank', 'Operations'], rows);
}

function stepUpTable() {
  const rows = CHANGES.map(({ operation, stepUp }) => {
    if (stepUp === 'always') return [`\`${operation}\``, 'always', ''];
    if (!Array.isArray(stepUp)) return [`\`${operation}\``, '–', stepUp.not];
    return [`\`${operation}\``, `with ${stepUp.map((field) => `\`${field}\``).join(', ')}`, ''];
  });
  return table(['Operation', 'Step-up', 'Why not'], rows);
}

const SWITCHED_ROLES = {
  organization_admin: 'admins of the organization',
  manager: 'admins and managers of a workspace',
  member: 'members of a workspace',
};

function policyFlagsTable() {
  const rows = Object.entries(SWITCHES).map(([name, { role, meaning, usual }]) => [
    `\`${name}\``,
    SWITCHED_ROLES[role],
    meaning,
    `\`${usual}\``,
  ]);
  return table(['Flag', 'Role', 'Allows to', 'Default'], rows);
}

function permissionsPage() {
  const rows = PERMISSIONS.map(({ operation, on, statuses }) => [
    `\`${operation}\``,
    on ?? '',
    ...statuses.match(/\d{3}/g).map((status) => (status === '200' ? 'yes' : status)),
  ]);
  const intro =
    'Permissions of each role, as the tests verify them: "yes", or the status of the refusal. Requests are for "this workspace"; a resource elsewhere answers 404, whether it exists or not. ' +
    '[scopes.md](scopes.md) lists the scopes. A list contains only what its caller may see.';
  const permissions = table(['Operation', 'On', ...CALLERS.map(([, title]) => title)], rows);
  const parts = [
    permissions,
    '## Policy flags',
    'Fields of `security_settings` of `PUT /v1/admin/organisation`. Each gives a right to a role, or takes it.',
    policyFlagsTable(),
    '## Authority',
    'Nobody gets above their rank. The ranks are owner, admin, manager or admin of a workspace, and member. ' +
      'A resource of this table never gives more than the named user has now, and only users of at least that rank change it. ' +
      'Resources without a line, such as virtual keys and configs, act for their workspace and carry no authority of a user.',
    authoritiesTable(),
    '## Step-up',
    'Operations for which a dashboard session needs a sign-in or step-up within the last 10 minutes, otherwise 403 `step_up_required`. ' +
      'API keys and signed tokens need none.',
    stepUpTable(),
  ];
  return page('Permissions', intro, parts.join('\n\n'));
}

/** A hand-written page with generated parts, each between two marks that bear its name. */
async function withParts(name, parts) {
  let text = await readFile(new URL(`../${name}`, import.meta.url), 'utf8');
  for (const [part, made] of Object.entries(parts)) {
    const [begin, end] = [`<!-- generated: ${part} -->`, `<!-- end of generated: ${part} -->`];
    const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)];
    if (from < begin.length || to < from) throw new Error(`${name} has no marks ${begin} and ${end}.`);
    text = `${text.slice(0, from)}\n${made}\n${text.slice(to)}`;
  }
  return text;
}

/** After the table: the metrics of the dashboards are registered by it. */
const METRICS = table(['Metric', 'Type', 'Labels', 'Meaning'], metricRows());

const PAGES = {
  'docs/architecture.md': () => withParts('docs/architecture.md', { imports: roomArrows() }),
  'docs/capacity.md': () => withParts('docs/capacity.md', { plan: capacityTables() }),
  'docs/guardrails.md': () =>
    withParts('docs/guardrails.md', { coverage: coverageTable(), unread: unreadTable() }),
  'docs/clients.md': () => withParts('docs/clients.md', { 'origin headers': originHeadersTable() }),
  'docs/limits.md': () =>
    withParts('docs/limits.md', { charging: chargingTable(), 'limit effects': limitEffectsTable() }),
  'docs/metrics.md': () => withParts('docs/metrics.md', { metrics: METRICS }),
  'docs/commands.md': commandsPage,
  'docs/permissions.md': permissionsPage,
  'docs/providers.md': catalogPage,
  'docs/endpoints.md': endpointsPage,
  'docs/settings.md': settingsPage,
  'docs/errors.md': errorsPage,
  'docs/scopes.md': scopesPage,
  'openapi.json': openApi,
  ...Object.fromEntries(
    dashboardNames.map((name) => [`deploy/grafana/${name}.json`, () => dashboardJson(name)]),
  ),
};

const isCheck = process.argv.includes('--check');
for (const [name, make] of Object.entries(PAGES)) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  const text = await make();
  if (!isCheck) await writeFile(path, text);
  else if ((await readFile(path, 'utf8').catch(() => '')) !== text) {
    console.error(`${name} is out of date: run "npm run generate".`);
    process.exitCode = 1;
  }
}
