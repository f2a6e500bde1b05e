import { Counter, Gauge } from 'prom-client';

let expiresAt: number | null = null;

new Gauge({
  name: 'gatehouse_tls_certificate_expiry_seconds',
  help: 'Seconds until the first certificate of the TLS listener expires; negative afterwards. Absent without TLS.',
  // A process whose files are broken serves the older certificate.
  aggregator: 'min',
  collect() {
    // An instance without TLS has no certificate that could expire.
    if (expiresAt === null) this.remove();
    else this.set((expiresAt - Date.now()) / 1_000);
  },
});

const reloads = new Counter({
  name: 'gatehouse_tls_certificate_reloads_total',
  help: 'Changes of the certificate files of the TLS listener that were loaded, or rejected because they cannot be used.',
  labelNames: ['outcome'],
});

/** Labels are fixed: error codes of OpenSSL depend on what clients send. */
export type HandshakeFailure = 'client_certificate' | 'timeout' | 'disconnected' | 'protocol';

const failures = new Counter({
  name: 'gatehouse_tls_handshake_failures_total',
  help: 'Connections that ended before TLS was established, by reason.',
  labelNames: ['reason'],
});

export const certificateExpiresAt = (atMs: number): void => void (expiresAt = atMs);
export const countReload = (outcome: 'loaded' | 'rejected'): void => reloads.inc({ outcome });
export const countHandshakeFailure = (reason: HandshakeFailure): void => failures.inc({ reason });
