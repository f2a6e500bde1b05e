import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TestAuthority } from '../../test/support/certificates.js';
import { checkCertificateFiles } from './check-certificate-files.js';

let authority: TestAuthority;
beforeAll(() => {
  authority = new TestAuthority();
});
afterAll(() => authority.remove());

const check = (path: string) => () => checkCertificateFiles({ tls: null }, { NODE_EXTRA_CA_CERTS: path });

describe('additional certificate authorities', () => {
  it('may be absent, or in a file with a certificate', () => {
    expect(check(authority.cert)).not.toThrow();
    expect(check('')).not.toThrow();
  });

  it('refuse the start when their file is missing or holds none, which Node would only warn of', () => {
    expect(check('/nowhere.pem')).toThrow(/^NODE_EXTRA_CA_CERTS: \/nowhere\.pem cannot be read \(ENOENT\)/);
    expect(check(authority.issue('leaf').key)).toThrow(/holds no certificate/);
  });
});
