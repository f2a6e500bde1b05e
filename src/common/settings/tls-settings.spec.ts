import { describe, expect, it } from 'vitest';
import { baseUrl, isServedOverHttps } from './base-url.js';
import { loadSettings, SettingsError } from './settings.js';

const problemsOf = (environment: Readonly<Record<string, string>>): readonly string[] => {
  try {
    loadSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
};
const PAIR = { GATEHOUSE_TLS_CERTIFICATE_FILE: '/tls/tls.crt', GATEHOUSE_TLS_KEY_FILE: '/tls/tls.key' };

describe('the settings of TLS', () => {
  it('leave the port at plain HTTP by default', () => {
    expect(loadSettings({})).toMatchObject({ tls: null, probesPort: null });
  });

  it('hide the passphrase, and require no client certificate by default', () => {
    const { tls } = loadSettings({ ...PAIR, GATEHOUSE_TLS_KEY_PASSPHRASE: 'open sesame' });

    expect(tls).toMatchObject({
      certificateFile: '/tls/tls.crt',
      minVersion: 'TLSv1.2',
      clientCertificates: null,
    });
    expect(JSON.stringify(tls)).not.toContain('sesame');
  });

  it('say that clients use https, unless a public address says otherwise', () => {
    const own = loadSettings({ ...PAIR, GATEHOUSE_HOST: '127.0.0.1' });
    const behind = loadSettings({ ...PAIR, GATEHOUSE_PUBLIC_URL: 'http://gateway.lan' });

    expect([isServedOverHttps(own), baseUrl(own, 8787)]).toEqual([true, 'https://127.0.0.1:8787']);
    expect([isServedOverHttps(behind), isServedOverHttps(loadSettings({}))]).toEqual([false, false]);
  });

  it.each([
    [
      { GATEHOUSE_TLS_KEY_FILE: 'k' },
      ['GATEHOUSE_TLS_CERTIFICATE_FILE: is required by GATEHOUSE_TLS_KEY_FILE.'],
    ],
    [
      { GATEHOUSE_TLS_CLIENT_CERTIFICATES: 'require' },
      [
        'GATEHOUSE_TLS_CERTIFICATE_FILE: is required by GATEHOUSE_TLS_CLIENT_CERTIFICATES.',
        'GATEHOUSE_TLS_CLIENT_CA_FILE: is required by GATEHOUSE_TLS_CLIENT_CERTIFICATES.',
      ],
    ],
    [
      { ...PAIR, GATEHOUSE_TLS_CLIENT_CA_FILE: 'ca' },
      [
        'GATEHOUSE_TLS_CLIENT_CERTIFICATES: must be request or require, because GATEHOUSE_TLS_CLIENT_CA_FILE is set.',
      ],
    ],
    [{ GATEHOUSE_TLS_MIN_VERSION: '1.1' }, ['GATEHOUSE_TLS_MIN_VERSION: it must be 1.2 or 1.3.']],
    [{ GATEHOUSE_PROBES_PORT: '0' }, ['GATEHOUSE_PROBES_PORT: it must be at least 1.']],
  ])('are refused if they would leave the port open: %j', (environment, problems) => {
    expect(problemsOf(environment)).toEqual(problems);
  });
});
