/** The load on the administration: operations, their frequency, and the bytes of each request. */

const PAGE_SIZE = 50;
/** The documented client sends start and end for the audit log. */
const LONG_AGO = '2020-01-01';

/**
 * Parts per hundred, of which 40 are pages of 50 rows. `path` is built for each request from data that was read from the database.
 *
 * @typedef {{ name: string, parts: number, method?: string, path: (world: object) => string, body?: (world: object) => object }} Operation
 * @type {Operation[]}
 */
const READS = [
  ...pages('API keys', 15, ({ keys }) => ({ path: '/v1/api-keys', total: keys })),
  ...pages('workspaces', 9, ({ workspaces }) => ({ path: '/v1/admin/workspaces', total: workspaces })),
  ...pages('audit log', 6, ({ audit }) => ({ path: '/v1/audit-logs', total: audit })),
  ...pages('audit log of a time', 3, ({ audit, now }) => ({
    path: `/v1/audit-logs?start_time=${LONG_AGO}&end_time=${now}`,
    total: audit,
  })),
  {
    name: 'API keys of a workspace',
    parts: 7,
    path: ({ workspaceIds }) => `/v1/api-keys?workspace_id=${one(workspaceIds)}`,
  },
  { name: 'an API key', parts: 30, path: ({ keyIds }) => `/v1/api-keys/${one(keyIds)}` },
  { name: 'a workspace', parts: 12, path: ({ workspaceIds }) => `/v1/admin/workspaces/${one(workspaceIds)}` },
  { name: 'virtual keys', parts: 3, path: () => '/v1/virtual-keys' },
  { name: 'a virtual key', parts: 8, path: ({ virtualKey }) => `/v1/virtual-keys/${virtualKey}` },
  { name: 'users', parts: 3, path: () => '/v1/admin/users' },
  { name: 'configs', parts: 4, path: () => '/v1/configs' },
];

const WRITES = [
  {
    name: 'make an API key',
    parts: 30,
    method: 'POST',
    path: () => '/v1/api-keys/workspace/service',
    body: ({ workspaceIds }) => ({
      name: 'Made under load',
      workspace_id: one(workspaceIds),
      scopes: ['completions.write'],
    }),
  },
  {
    name: 'change an API key',
    parts: 30,
    method: 'PUT',
    path: ({ keyIds }) => `/v1/api-keys/${one(keyIds)}`,
    body: () => ({ name: `Changed ${Math.floor(random() * 1e9)}` }),
  },
  {
    name: 'rotate an API key',
    parts: 15,
    method: 'POST',
    path: ({ rotatedIds }) => `/v1/api-keys/${rotatedIds.pop()}/rotate`,
    body: () => ({}),
  },
  {
    name: 'revoke an API key',
    parts: 15,
    method: 'DELETE',
    path: ({ doomedIds }) => `/v1/api-keys/${doomedIds.pop()}`,
  },
  {
    name: 'change a virtual key',
    parts: 10,
    method: 'PUT',
    path: ({ virtualKey }) => `/v1/virtual-keys/${virtualKey}`,
    body: () => ({ note: `Changed ${Math.floor(random() * 1e9)}` }),
  },
];

/** A third each of the first page, one in the middle, and the last. */
function pages(what, parts, listOf) {
  const page = (which, place) => ({
    name: `${what}, ${which} page`,
    parts: parts / 3,
    path: (world) => {
      const { path, total } = listOf(world);
      const last = Math.max(0, Math.ceil(total / PAGE_SIZE) - 1);
      return `${path}${path.includes('?') ? '&' : '?'}page_size=${PAGE_SIZE}&current_page=${Math.floor(last * place)}`;
    },
  });
  return [page('first', 0), page('middle', 0.5), page('last', 1)];
}

export const OPERATIONS = [...READS, ...WRITES];

/**
 * Requests as many clients send them: independent of each other, so that several may coincide (a Poisson process). The same in every run
 * but for the ids.
 */
export function stepsOf(world, { reads, writes, seconds }) {
  seed = 1;
  return [...arrivals(READS, reads, seconds), ...arrivals(WRITES, writes, seconds)]
    .sort((one, other) => one.atUs - other.atUs)
    .map(({ atUs, operation }) => ({ atUs, name: operation.name, request: bytesOf(operation, world) }));
}

function arrivals(operations, perSecond, seconds) {
  const found = [];
  for (let at = gap(perSecond); at < seconds; at += gap(perSecond))
    found.push({ atUs: at * 1e6, operation: drawn(operations) });
  return found;
}

function drawn(operations) {
  let left = random() * operations.reduce((sum, { parts }) => sum + parts, 0);
  return operations.find(({ parts }) => (left -= parts) < 0) ?? operations[0];
}

function bytesOf({ method = 'GET', path, body }, world) {
  const text = body ? JSON.stringify(body(world)) : '';
  const lines = [
    `${method} ${path(world)} HTTP/1.1`,
    `host: 127.0.0.1:${world.port}`,
    `x-gateway-api-key: ${world.adminKey}`,
    'user-agent: bench',
    ...(body ? ['content-type: application/json', `content-length: ${Buffer.byteLength(text)}`] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

let seed = 1;
/** https://en.wikipedia.org/wiki/Linear_congruential_generator, with the numbers of Numerical Recipes */
function random() {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}
const gap = (perSecond) => (perSecond > 0 ? -Math.log(1 - random()) / perSecond : Number.POSITIVE_INFINITY);
const one = (list) => list[Math.floor(random() * list.length)];
