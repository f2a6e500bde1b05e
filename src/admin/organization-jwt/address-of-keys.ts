import { parseDestination } from '../../common/net/destination.js';
import type { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';

const QUERY = /^\?[\w\-.~!$&'()*+,;=:@/?%]*$/;
const ADDRESS = /^(\[.*\]|\d+\.\d+\.\d+\.\d+|localhost)$/;

/**
 * Checks where keys are to be fetched from. In clear only from an address that the operator opened: whoever stands on
 * the way could put its own keys there.
 */
export function checkAddressOfKeys(text: string, egress: Egress): void {
  const at = text.indexOf('?');
  const [base, query] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
  try {
    const url = parseDestination(base);
    if (query !== '' && !QUERY.test(query)) throw refused('its query has characters that a URL cannot have');
    if (url.protocol === 'http:' && !ADDRESS.test(url.hostname)) throw refused('it must be https');
    egress.checkDestination(url);
  } catch (error) {
    throw error instanceof AppError && error.code !== 'invalid_request' ? refused(detailOf(error)) : error;
  }
}

function detailOf({ code, details }: AppError): string {
  return code === 'custom_host_invalid'
    ? String(details['detail'])
    : 'the gateway may not call this address unless the operator allows it (GATEHOUSE_EGRESS_ALLOW)';
}

const refused = (detail: string): AppError =>
  new AppError('invalid_request', { detail: `The field "jwks_uri" is invalid: ${detail}.` });
