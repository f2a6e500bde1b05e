import type { Settings } from './settings.js';

/** The address for clients: the configured one, or one that works on this machine. Without a trailing slash. */
export function baseUrl({ publicUrl, host }: Settings, port: number): string {
  if (publicUrl) return publicUrl.replace(/\/+$/, '');
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
