import { X509Certificate } from 'node:crypto';
import { type AuditTarget, parseAuditTarget } from '../../common/contracts/audit-destination.js';
import type { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';

/** What a destination is to be. `hasSecret` whether one is stored or was sent. */
export interface WantedTarget {
  readonly url: string;
  readonly hasSecret: boolean;
  readonly caCertificate: string | null;
}

/** Checks that the parts of a destination fit each other, and that its address is not known to be closed. */
export function checkedTarget(egress: Egress, { url, hasSecret, caCertificate }: WantedTarget): AuditTarget {
  const target = parseAuditTarget(url);
  if (target.type === 'webhook') egress.checkDestination(target.url);
  else egress.checkEndpoint(target.endpoint);
  if (target.type === 'webhook' && !hasSecret)
    throw new AppError('credential_required', {
      detail: 'A webhook needs the secret that its calls are signed with. Send it in the field "secret".',
    });
  if (target.type === 'syslog' && hasSecret)
    throw refused('secret', 'syslog is not signed; only a webhook has a secret');
  if (caCertificate !== null) checkCertificate(target, caCertificate);
  return target;
}

function checkCertificate(target: AuditTarget, caCertificate: string): void {
  if (target.type !== 'syslog' || target.transport !== 'tls')
    throw refused('ca_certificate', 'only a destination at tls:// has one');
  try {
    new X509Certificate(caCertificate);
  } catch {
    throw refused('ca_certificate', 'it must be a certificate in PEM');
  }
}

const refused = (field: string, rule: string): AppError =>
  new AppError('invalid_request', { detail: `The field "${field}" is invalid: ${rule}.` });
