import { createHash } from 'node:crypto';
import { createLogger } from '../../common/observability/logger.js';
import type { TlsListenerSettings } from '../../common/settings/tls-settings.js';
import { checkTlsMaterial, readTlsFiles, type TlsMaterial } from './tls-files.js';
import { certificateExpiresAt, countReload } from './tls-metrics.js';

const CHECK_EVERY_MS = 5_000;

const logger = createLogger('tls');

/**
 * Loads the certificate files of the listener again when their content changes, whether they are replaced, renamed or behind a symbolic
 * link that moves, as in Kubernetes. Files that cannot be used leave the loaded ones in force.
 */
export class CertificateReloader {
  private loaded: string;
  /** The last content that could not be used. */
  private rejected = { digest: '', isReported: false };
  private timer: NodeJS.Timeout | undefined;

  /** `initial` is in use already. `use` may throw for files that Node does not accept. */
  constructor(
    private readonly settings: TlsListenerSettings,
    initial: TlsMaterial,
    private readonly use: (material: TlsMaterial) => void,
  ) {
    this.loaded = digestOf(initial);
    certificateExpiresAt(checkTlsMaterial(initial));
  }

  start(): void {
    this.timer = setInterval(() => this.check(), CHECK_EVERY_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Loads the files if they have changed. Never throws. */
  check(): void {
    let digest = '';
    try {
      const material = readTlsFiles(this.settings);
      digest = digestOf(material);
      if (digest === this.loaded) return;
      const expiresAt = checkTlsMaterial(material);
      this.use(material);
      this.loaded = digest;
      certificateExpiresAt(expiresAt);
      countReload('loaded');
      logger.info(
        { expires_at: new Date(expiresAt).toISOString() },
        'The certificate of the listener was reloaded.',
      );
    } catch (error) {
      this.reject(digest, error);
    }
  }

  /** Files are often replaced one after the other, so only what is still wrong at the next check is reported, once. */
  private reject(digest: string, error: unknown): void {
    if (this.rejected.digest !== digest) this.rejected = { digest, isReported: false };
    else if (!this.rejected.isReported) {
      this.rejected.isReported = true;
      countReload('rejected');
      logger.error(
        { reason: (error as Error).message },
        'The new certificate files of the listener cannot be used. The loaded certificate stays in use; correct the files.',
      );
    }
  }
}

const digestOf = (material: TlsMaterial): string =>
  createHash('sha256').update(JSON.stringify(material)).digest('hex');
