import type { LogDetail } from '../../api/logs';
import { words } from '../../words/en';

/** Headers that choose the target and the format; credentials and those of a connection are left out. */
const SENT =
  /^(?:content-type|anthropic-version|anthropic-beta|openai-beta|x-gateway-(?!api-key).+|x-portkey-(?!api-key).+)$/i;
const MASKED = '***';

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A command that repeats a request with another key. Null if its body is not stored whole, or is not text. */
export function curlOf({ method, path, request }: LogDetail, origin: string): string | null {
  const { body, body_truncated, body_unavailable, body_format, headers } = request;
  if (body_truncated || body_unavailable || body_format === 'base64') return null;
  const sent = Object.entries(headers)
    .filter(([name, value]) => SENT.test(name) && value !== MASKED)
    .map(([name, value]) => `-H ${quoted(`${name}: ${String(value)}`)}`);
  return [
    `curl -X ${method} ${quoted(origin + path)}`,
    `-H ${quoted(`x-gateway-api-key: ${words.logs.keyMissing}`)}`,
    ...sent,
    ...(body === null ? [] : [`-d ${quoted(typeof body === 'string' ? body : JSON.stringify(body))}`]),
  ].join(' \\\n  ');
}
