import type { BegunExchange } from '../recording/exchange-recorder.js';

/** Names of the headers that the gateway adds, in both spellings. */
const NAMES = [
  'trace-id',
  'request-id',
  'provider',
  'cache-status',
  'retry-attempt-count',
  'last-used-option-index',
  'dropped-parameters',
  'endpoint',
  'error-source',
  'overhead-ms',
] as const;

type Name = (typeof NAMES)[number];
type Spelling = Readonly<Record<Name, string>>;

const spelled = (prefix: string): Spelling =>
  Object.fromEntries(NAMES.map((name) => [name, prefix + name])) as Spelling;

const OURS = spelled('x-gateway-');
const COMPATIBLE = spelled('x-portkey-');

/** A browser must not take an error of ours, which quotes the request, for a page. */
export const NO_SNIFFING = ['x-content-type-options', 'nosniff'] as const;

/** An exchange whose response begins. */
export type AnsweredExchange = Pick<BegunExchange, 'recorder' | 'facts' | 'trail'>;

/** Adds the gateway's headers about the exchange to `headers`, names and values in turn. */
export function addAnswerHeaders(
  headers: string[],
  exchange: AnsweredExchange,
  errorSource: 'gateway' | 'provider' | null,
): void {
  const overheadMs = exchange.recorder.overheadMs.toFixed(3);
  add(headers, OURS, exchange, errorSource);
  headers.push(OURS['overhead-ms'], overheadMs);
  if (exchange.facts.options.isCompatible) {
    add(headers, COMPATIBLE, exchange, errorSource);
    headers.push(COMPATIBLE['overhead-ms'], overheadMs);
  }
  headers.push('server-timing', `gateway;dur=${overheadMs}`);
}

function add(
  headers: string[],
  names: Spelling,
  { facts, trail }: AnsweredExchange,
  errorSource: 'gateway' | 'provider' | null,
): void {
  headers.push(names['request-id'], facts.id, names['trace-id'], facts.traceId);
  const { target, cacheStatus, isExhausted, retries, option, dropped, isUnlisted } = trail;
  if (target)
    headers.push(
      names.provider,
      target.provider.id,
      names['cache-status'],
      cacheStatus ?? 'DISABLED',
      names['retry-attempt-count'],
      String(isExhausted ? -1 : retries),
      names['last-used-option-index'],
      option,
    );
  if (dropped) headers.push(names['dropped-parameters'], dropped.join(', '));
  if (isUnlisted) headers.push(names.endpoint, 'unlisted');
  if (errorSource) headers.push(names['error-source'], errorSource);
}
