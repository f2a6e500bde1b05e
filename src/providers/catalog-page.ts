import { type CatalogGroup, catalog } from './catalog/index.js';
import type { Price } from './prices/price.js';
import type { AccountField, Provider } from './provider.js';
import { sandboxModels, sandboxPrices } from './sandbox/models.js';

/** The documentation of the catalogue in Markdown, generated from its rows so that it cannot differ. */
export function catalogPage(): string {
  const rows = catalog.flatMap((group) => group.rows).sort(byId);
  const lines = [
    ...introduction(rows.length),
    ...catalog.flatMap(groupSection),
    ...fieldSection(rows),
    ...headerSection(rows),
    ...openPoints(rows),
    ...sandboxSection(),
  ];
  return lines.join('\n');
}

const introduction = (count: number): readonly string[] => [
  '# Providers',
  '',
  'Generated from `src/providers` by `npm run generate`; do not edit.',
  '',
  `${count} of them, by kind. Choose one with \`x-gateway-provider: <id>\` and the provider's own key in`,
  '`Authorization`, or through a virtual key. The path below `/v1` is appended to the base URL:',
  '`POST /v1/chat/completions` for `openai` becomes `POST https://api.openai.com/v1/chat/completions`.',
  '',
  '`{name}` in a base URL is a field of the account, see [Fields](#fields). `<custom host>` is the address that a',
  "virtual key's `custom_host` or `x-gateway-custom-host` names; these providers have no address of their own.",
  '',
  'A custom host replaces the base URL, version included: `https://proxy.example/v1`. The version occurs once in the',
  "provider's path, whether or not the custom host ends with it. These providers need no version in a custom host:",
  `${hostPaths(catalog.flatMap((group) => group.rows))}.`,
  '',
  'Endpoints are those that a provider has natively, in the format of the client; [endpoints.md](endpoints.md)',
  'also lists those that are translated. An endpoint that a provider has in neither way is refused; other paths pass through',
  'unread.',
  '',
];

const hostPaths = (rows: readonly Provider[]): string =>
  rows
    .flatMap(({ id, hostPath }) =>
      hostPath === undefined ? [] : [`${code(id)} (${code(hostPath)} is added)`],
    )
    .sort()
    .join(', ');

const columns = ['Id', 'Name', 'Base URL', 'Key', 'Endpoints', 'Prices'];

const groupSection = ({ title, rows }: CatalogGroup): readonly string[] => [
  `## ${title}`,
  '',
  ...table(columns, [...rows].sort(byId).map(providerRow)),
];

const providerRow = (provider: Provider): readonly string[] => [
  code(provider.id),
  `[${provider.name}](${provider.source})`,
  addressOf(provider),
  keyOf(provider),
  provider.endpoints.length > 0 ? provider.endpoints.map(code).join(', ') : '–',
  pricesOf(provider),
];

/** A custom host is shown with the path of the first endpoint, so that users do not write `/v1` twice. */
function addressOf({ inProcess, baseUrl, dialect, endpoints: [endpoint] }: Provider): string {
  if (inProcess) return 'none: runs inside the gateway';
  if (baseUrl !== null) return code(baseUrl);
  if (endpoint !== 'chat-completions') return code('<custom host>');
  const path = '/chat/completions';
  return code(`<custom host>${dialect.pathOf?.({ endpoint, path, model: '', fields: {} }) ?? path}`);
}

function keyOf({ auth }: Provider): string {
  if (auth.signer) return `signs with it (${auth.signer})`;
  return auth.header ? `${code(auth.header)} (${auth.id})` : 'none';
}

function pricesOf({ id, prices, pricesId }: Provider): string {
  if (prices) return 'its own';
  return pricesId === null ? '–' : code(pricesId ?? id);
}

const fieldSection = (rows: readonly Provider[]): readonly string[] => [
  '## Fields',
  '',
  'Fields of an account besides its key: `fields` of a virtual key, or `x-gateway-<field>` from a client that sends its',
  'own key. None of them is a secret.',
  '',
  ...table(
    ['Provider', 'Field', 'What it is', 'Needed', 'Example'],
    rows.flatMap(({ id, fields = [] }) =>
      fields.map((field) => [code(id), code(field.name), field.title, needOf(field), code(field.example)]),
    ),
  ),
];

function needOf({ isRequired, default: fallback }: AccountField): string {
  if (isRequired) return 'yes';
  return fallback === undefined ? 'no' : `no: ${code(fallback)}`;
}

const headerSection = (rows: readonly Provider[]): readonly string[] => [
  '## Account headers',
  '',
  'Headers that a client sends, or fields of a virtual key, and the header that the provider receives.',
  '',
  ...table(
    ['Provider', 'Sent to the gateway', 'Sent to the provider'],
    rows.flatMap(({ id, accountHeaders = [] }) =>
      accountHeaders.map(({ field, header }) => [code(id), code(`x-gateway-${field}`), code(header)]),
    ),
  ),
];

function openPoints(rows: readonly Provider[]): readonly string[] {
  const points = rows.flatMap(({ id, unverified }) => (unverified ? [`- ${code(id)}: ${unverified}`] : []));
  return ['## Open points', '', ...points, ''];
}

const sandboxSection = (): readonly string[] => [
  '## The sandbox',
  '',
  'The provider `sandbox` is built in. It needs no account, calls nothing outside the process, and always gives the',
  'same response to the same request. One word is one token. It returns `n` choices, streams, stops at',
  '`max_tokens`, calls a tool when `tool_choice` forces one or the last user message contains its name, and writes JSON',
  'for `response_format`. Sampling parameters change nothing. `GET /v1/models` lists its models.',
  '',
  'Its prices are invented, so that you can try costs and budgets.',
  '',
  ...table(
    ['Model', 'What it does', 'Input per million', 'Output per million'],
    sandboxModels.map(({ id, behaviour }) => [code(id), behaviour, ...dollars(sandboxPrices.get(id))]),
  ),
];

const dollars = (price: Price | undefined): readonly string[] =>
  price ? [price.input, price.output].map((nano) => `$${nano / 1e9}`) : ['unknown', 'unknown'];

const byId = (a: Provider, b: Provider): number => a.id.localeCompare(b.id, 'en');

const code = (text: string): string => `\`${text}\``;

const table = (columns: readonly string[], rows: readonly (readonly string[])[]): readonly string[] => [
  `| ${columns.join(' | ')} |`,
  `|${columns.map(() => '---').join('|')}|`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
  '',
];
