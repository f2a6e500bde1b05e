import { hostname } from 'node:os';
import type { AuditOutcome } from '../../admin/audit/audit-record.entity.js';
import type { AuditMessage } from './audit-message.js';

/** "log audit", https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1 */
const FACILITY = 13;
const SEVERITY: Readonly<Record<AuditOutcome, number>> = { success: 5, refused: 4, failed: 3 };

const LONGEST_HOST = 255;
const LONGEST_ID = 32;
/** Maximum size of a datagram over IPv4 and IPv6. */
const LONGEST_DATAGRAM = 65_000;

const HOST = printable(hostname(), LONGEST_HOST);

/**
 * A record as syslog: header, no structured data, and the JSON line as the message. Without a byte order mark, because receivers that parse
 * JSON fail on it. https://www.rfc-editor.org/rfc/rfc5424#section-6
 */
export function syslogMessage({ record, json }: AuditMessage): Buffer {
  const priority = FACILITY * 8 + SEVERITY[record.outcome];
  const id = printable(record.action, LONGEST_ID);
  return Buffer.from(`<${priority}>1 ${record.at.toISOString()} ${HOST} gatehouse - ${id} - ${json}`, 'utf8');
}

/** Octet counting: content of a record can never end its frame. https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1 */
export function framed(message: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${message.length} `, 'latin1'), message]);
}

/** Truncates records that are too long for a datagram, the only way that https://www.rfc-editor.org/rfc/rfc5426#section-3.2 allows. */
export function datagram(message: Buffer): Buffer {
  return message.subarray(0, LONGEST_DATAGRAM);
}

function printable(text: string, longest: number): string {
  return text.replace(/[^!-~]/g, '').slice(0, longest) || '-';
}
