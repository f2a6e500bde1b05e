import type { Settings } from '../common/settings/settings.js';
import { checkTlsMaterial, readTlsFiles } from '../server/tls/tls-files.js';
import { LauncherError } from './launcher-error.js';

/** Refuses a start with certificate files that cannot be used, before any process is started. */
export function checkListenerFiles({ tls }: Pick<Settings, 'tls'>): void {
  if (tls === null) return;
  try {
    checkTlsMaterial(readTlsFiles(tls));
  } catch (cause) {
    throw new LauncherError((cause as Error).message, { cause });
  }
}
