import type { ChargeRow } from './charging/charge.js';
import { LIMIT_KINDS, type LimitEffect, limitEffectRows } from './charging/limit-effects.js';
import { type SessionRow, sessionRows } from './charging/sessions.js';
import { chargeRows } from './charging/table.js';
import { type Endpoint, ENDPOINT_IDS, type EndpointId } from './endpoint.js';
import { endpoints } from './endpoints/index.js';
import { type Support, supportOf } from './support.js';
import type { Provider } from './provider.js';
import { providers } from './catalog/registry.js';

/** The documentation of the endpoints in Markdown, generated from the rows and the registry so that it cannot differ. */
export function endpointsPage(): string {
  return [...introduction, ...operations(), ...matrix()].join('\n');
}

const introduction = [
  '# Endpoints',
  '',
  'Generated from `src/providers` by `npm run generate`; do not edit.',
  '',
  'These are the first-class endpoints, whose requests the gateway reads. It forwards every other path below `/v1` without reading the body.',
  '',
  'Versions of an API that a provider has replaced are not endpoints: the gateway forwards them without reading tokens',
  "and cost. This includes version 1 of Cohere's chat, embeddings and reranking (`/v1/v1/chat`, `/v1/v1/embed`, `/v1/v1/rerank`); version 2 is read.",
  '',
  "Two-step uploads, as Google's client makes them, use `/upload/v1/` or `/upload/v1beta/` at providers that support them.",
  '',
  '## Operations',
  '',
  'Body `json`: parsed, so that it can name the model and be translated. `form`: a multipart form, whose files stream through; its `model`',
  'can name the target if it comes before the files. `opaque`: forwarded as a stream, without being read.',
  'Usage: tokens are read from the response.',
  '',
];

const operations = (): readonly string[] =>
  table(
    ['Endpoint', 'What it is', 'Requests', 'Body', 'Usage', 'Checked against'],
    [...endpoints]
      .sort(inOrder)
      .map(({ id, title, operations: requests, body, usage, source }) => [
        code(id),
        title,
        requests.map(({ method, path }) => code(`${method} /v1${path}`)).join('<br>'),
        body,
        usage ? 'yes' : '–',
        source,
      ]),
  );

/** In the order of the ids; of two rows with one id, the parsed one first. */
const inOrder = (a: Endpoint, b: Endpoint): number =>
  ENDPOINT_IDS.indexOf(a.id) - ENDPOINT_IDS.indexOf(b.id) || a.body.localeCompare(b.body, 'en');

const MARKS: Readonly<Record<Support, string>> = { native: '●', translated: '○', counted: '◌' };

/** `●` for a native endpoint, `○` for a translated one, and empty for an unsupported one. */
export const markOf = (provider: Provider, endpoint: EndpointId): string => {
  const support = supportOf(provider, endpoint);
  return support ? MARKS[support] : '';
};

function matrix(): readonly string[] {
  const rows = [...providers.values()].sort((a, b) => a.id.localeCompare(b.id, 'en'));
  return [
    '## Providers',
    '',
    '`●` native: bytes pass unchanged. `○` translated by the gateway. `◌` counted by the gateway, as an estimate. Blank: forwarded',
    'unchanged, because a provider may have more than this table; the response then has the header `x-gateway-endpoint: unlisted`.',
    'Limits and guardrails treat such a request like the same path below `/v1/proxy/`. If the provider responds with 404 or 405, a fallback',
    'moves on.',
    '',
    "A request in a provider's own format passes unchanged, too: reranking at Voyage with `top_k` or `truncation`, embeddings at Voyage and Jina",
    'with fields that only they have. `/v1/proxy/<path>` never translates.',
    '',
    ...table(
      ['Provider', ...ENDPOINT_IDS.map(code)],
      rows.map((provider) => [code(provider.id), ...ENDPOINT_IDS.map((id) => markOf(provider, id))]),
    ),
  ];
}

const code = (text: string): string => `\`${text}\``;

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  `| ${columns.join(' | ')} |`,
  `|${columns.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  '',
];

/** The table of charges in Markdown, for docs/limits.md, generated from the rows so that it cannot differ. */
export function chargingTable(): string {
  return [
    '| Requests (`POST` below `/v1`) | Charged | Known from | Reserved |',
    '|---|---|---|---|',
    ...chargeRows.map(chargeLine),
    '| any other path, and `PUT` and `PATCH` | unknown | unknown | refused under a limit in dollars or tokens |',
    '| `GET`, `HEAD` and `DELETE` | nothing | – | nothing |',
    ...sessionRows.map(sessionLine),
    '| any other WebSocket, and providers that do not report the usage of sessions | unknown | unknown | refused under a limit in dollars or tokens |',
  ].join('\n');
}

const sessionLine = ({ path, charged, knownFrom, reserved }: SessionRow): string =>
  `| WebSocket ${code(path)} | ${charged} | ${knownFrom} | ${reserved} |`;

const EFFECTS: Readonly<Record<LimitEffect, string>> = {
  refused: 'refused',
  unmeasured: '402 `usage_unknown`',
  unaffected: '–',
};

/** The table of limits and paths in Markdown, for docs/limits.md, generated from the rows that the tests walk. */
export function limitEffectsTable(): string {
  const lines = limitEffectRows.map(
    ({ path, effects }) => `| ${[path, ...LIMIT_KINDS.map((kind) => EFFECTS[effects[kind]])].join(' | ')} |`,
  );
  return [
    `| Requests | ${LIMIT_KINDS.join(' | ')} |`,
    `|---|${LIMIT_KINDS.map(() => '---').join('|')}|`,
    ...lines,
  ].join('\n');
}

function chargeLine({ operations, charged, knownFrom, reserved }: ChargeRow): string {
  const paths = operations.map(({ path }) => code(path)).join(' ');
  return `| ${paths} | ${charged} | ${knownFrom} | ${reserved} |`;
}
