import { parseDestination } from '../../common/net/destination.js';
import type { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { invalidField } from '../../common/errors/field-errors.js';

const ADDRESS = /^(\[.*\]|\d+\.\d+\.\d+\.\d+|localhost)$/;

/** Plain HTTP only for an address that the operator allowed: anyone on the network path could impersonate the provider. */
export function checkIssuer(text: string, egress: Egress): void {
  try {
    const url = parseDestination(text);
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

const refused = (detail: string): AppError => invalidField('issuer', detail);
