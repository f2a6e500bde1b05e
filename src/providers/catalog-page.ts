import { endpoints } from './endpoints/index.js';
import type { Price } from './prices/price.js';
import type { Provider } from './provider.js';
import { providers } from './registry.js';
import { sandboxModels, sandboxPrices } from './sandbox/models.js';

/** The documentation of the catalogue, in Markdown, written from the rows themselves so that it cannot differ. */
export function catalogPage(): string {
  const rows = [...providers.values()].sort((a, b) => a.id.localeCompare(b.id, 'en'));
  const lines = [
    ...introduction,
    ...table(providerColumns, rows.map(providerRow)),
    ...accounts(rows),
    ...openPoints(rows),
    ...endpointSection(),
    ...sandboxSection(),
  ];
  return lines.join('\n');
}

const introduction = [
  '# Providers',
  '',
  'Generated from `src/providers` by `npm run generate`; do not edit.',
  '',
  "Choose one with `x-gateway-provider: <id>` and the provider's own key in `Authorization`, or through a virtual key.",
  'The path below `/v1` is appended to the base URL: `POST /v1/chat/completions` for `openai` becomes',
  '`POST https://api.openai.com/v1/chat/completions`. Paths that are not among the endpoints pass through unread.',
  '',
];

const providerColumns = ['Id', 'Name', 'Base URL', 'Key', 'Endpoints', 'Prices', 'Checked against'];

const providerRow = (provider: Provider): readonly string[] => [
  code(provider.id),
  provider.name,
  provider.inProcess ? 'none: answers inside the process' : code(provider.baseUrl),
  provider.auth.header ? `${code(provider.auth.header)} (${provider.auth.id})` : 'none',
  provider.endpoints.map(code).join(', '),
  pricesOf(provider),
  provider.inProcess ? `the shape of ${provider.source}` : provider.source,
];

function pricesOf({ id, prices, pricesId }: Provider): string {
  if (prices) return 'its own, see below';
  return pricesId === null ? 'unknown: cost stays empty' : code(pricesId ?? id);
}

function accounts(rows: readonly Provider[]): readonly string[] {
  const headers = rows.flatMap(({ id, accountHeaders = [] }) =>
    accountHeaders.map(({ field, header }) => [code(id), code(`x-gateway-${field}`), code(header)]),
  );
  return [
    '## Account headers',
    '',
    'What a client sends to the gateway, or a virtual key has as a field, and what the provider gets.',
    '',
    ...table(['Provider', 'Sent to the gateway', 'Sent to the provider'], headers),
  ];
}

function openPoints(rows: readonly Provider[]): readonly string[] {
  const points = rows.flatMap(({ id, unverified }) => (unverified ? [`- ${code(id)}: ${unverified}`] : []));
  return ['## Open points', '', ...points, ''];
}

const endpointSection = (): readonly string[] => [
  '## Endpoints',
  '',
  'First-class: the gateway reads their model and usage. Everything else is passed through and logged.',
  '',
  ...table(
    ['Id', 'Request', 'What it is'],
    endpoints.map(({ id, method, path, title }) => [code(id), code(`${method} /v1${path}`), title]),
  ),
];

const sandboxSection = (): readonly string[] => [
  '## The sandbox',
  '',
  'The provider `sandbox` is built in. It needs no account, calls nothing outside the process, and always gives the',
  'same answer to the same request. A token of the sandbox is a word. It answers with `n` choices, streams, stops at',
  '`max_tokens`, calls a tool when `tool_choice` forces one or the last user message contains its name, and writes JSON',
  'for `response_format`. Sampling parameters change nothing. `GET /v1/models` lists its models.',
  '',
  'Its prices are play money, so that costs and budgets can be tried.',
  '',
  ...table(
    ['Model', 'What it does', 'Input per million', 'Output per million'],
    sandboxModels.map(({ id, behaviour }) => [code(id), behaviour, ...dollars(sandboxPrices.get(id))]),
  ),
];

const dollars = (price: Price | undefined): readonly string[] =>
  price ? [price.input, price.output].map((nano) => `$${nano / 1e9}`) : ['unknown', 'unknown'];

const code = (text: string): string => `\`${text}\``;

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  `| ${columns.join(' | ')} |`,
  `|${columns.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  '',
];
