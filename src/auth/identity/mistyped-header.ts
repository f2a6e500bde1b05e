import type { IncomingHttpHeaders } from 'node:http';
import { nearestNames, suggestion } from '../../common/text/nearest-names.js';

const PREFIX = /^x-(?:gateway|portkey)-/;
const LONGEST_NAME = 64;

/**
 * A header of the gateway whose name is nearly that of one of the options: `there is no header "x-gateway-apikey" (did you mean
 * "x-gateway-api-key"?)`. Null for none. Provider fields are headers too, so other unknown names are not reported.
 */
export function mistypedHeader(headers: IncomingHttpHeaders, options: readonly string[]): string | null {
  for (const name of Object.keys(headers)) {
    const [prefix] = PREFIX.exec(name) ?? [];
    if (prefix === undefined) continue;
    const option = name.slice(prefix.length, LONGEST_NAME);
    if (options.includes(option)) continue;
    const near = nearestNames(option, options).map((each) => `"${prefix}${each}"`);
    if (near.length > 0) return `there is no header "${prefix}${option}"${suggestion(near)}`;
  }
  return null;
}
