import type { Settings } from './settings.js';

/** The address for clients: the configured one, or one that works on this machine. Without a trailing slash. */
export function baseUrl(settings: Settings, port: number): string {
  return settings.publicUrl ? settings.publicUrl.replace(/\/+$/, '') : localUrl(settings, port);
}

/** The address of the port from this machine, without a trailing slash. */
export function localUrl({ host, tls }: Pick<Settings, 'host' | 'tls'>, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${tls ? 'https' : 'http'}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

/** Whether clients use https: to this port, or to a proxy in front of it. */
export function isServedOverHttps({ publicUrl, tls }: Pick<Settings, 'publicUrl' | 'tls'>): boolean {
  return publicUrl === undefined ? tls !== null : publicUrl.startsWith('https:');
}
