interface OriginEffect {
  /** In lower case. */
  readonly headers: readonly string[];
  readonly effect: string;
}

/**
 * Response headers by which one response changes how a browser treats the whole origin, or which other pages may read it. The dashboard
 * shares the origin, so a provider must not set them. https://developer.mozilla.org/en-US/docs/Web/HTTP/Reference/Headers
 */
const ORIGIN_EFFECTS: readonly OriginEffect[] = [
  { headers: ['clear-site-data'], effect: 'deletes cookies and storage' },
  { headers: ['strict-transport-security'], effect: 'forces https, also where the operator serves http' },
  {
    headers: ['public-key-pins', 'public-key-pins-report-only', 'expect-ct'],
    effect: 'pins keys or certificates',
  },
  { headers: ['alt-svc'], effect: 'sends later requests to another host' },
  { headers: ['nel', 'report-to', 'reporting-endpoints'], effect: 'sends reports about requests elsewhere' },
  { headers: ['service-worker-allowed'], effect: 'lets a script of one path control every path' },
  { headers: ['refresh'], effect: 'leads a browser to another page' },
  {
    headers: [
      'access-control-allow-origin',
      'access-control-allow-credentials',
      'access-control-allow-headers',
      'access-control-allow-methods',
      'access-control-allow-private-network',
      'access-control-expose-headers',
      'access-control-max-age',
    ],
    effect: 'lets pages of other origins read responses, which the gateway does not allow',
  },
  {
    headers: ['accept-ch', 'critical-ch', 'origin-agent-cluster', 'set-login', 'use-as-dictionary'],
    effect: 'changes what a browser sends, keeps or shares',
  },
];

export const ORIGIN_HEADERS: ReadonlySet<string> = new Set(ORIGIN_EFFECTS.flatMap(({ headers }) => headers));

/** The table in Markdown, for docs/clients.md, generated from the rows so that it cannot differ. */
export function originHeadersTable(): string {
  const rows = ORIGIN_EFFECTS.map(
    ({ headers, effect }) => `| ${headers.map((name) => `\`${name}\``).join(' ')} | ${effect} |`,
  );
  return ['| Header | Effect on the origin |', '|---|---|', ...rows].join('\n');
}
