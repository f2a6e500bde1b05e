import { constants, createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TokenKeys = { readonly publicKey: KeyObject; readonly privateKey: KeyObject };

export const rsaKeys = (modulusLength = 2048): TokenKeys => generateKeyPairSync('rsa', { modulusLength });
export const ecKeys = (namedCurve = 'P-256'): TokenKeys => generateKeyPairSync('ec', { namedCurve });
export const edKeys = (): TokenKeys => generateKeyPairSync('ed25519');

export const jwkOf = ({ publicKey }: TokenKeys, kid: string, more: object = {}): object => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  ...more,
});

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** The two first parts of a token. */
export const unsigned = (header: object, claims: object): string => `${encode(header)}.${encode(claims)}`;

const SIGN: Readonly<Record<string, (data: Buffer, key: KeyObject) => Buffer>> = {
  RS256: (data, key) => sign('sha256', data, key),
  RS384: (data, key) => sign('sha384', data, key),
  PS256: (data, key) =>
    sign('sha256', data, {
      key,
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
  ES256: (data, key) => sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' }),
  ES384: (data, key) => sign('sha384', data, { key, dsaEncoding: 'ieee-p1363' }),
  EdDSA: (data, key) => sign(null, data, key),
};

export interface TokenHeader {
  readonly alg: string;
  readonly [name: string]: unknown;
}

/** The same for texts that no serializer writes. */
export function signedText(header: string, claims: string, { privateKey }: TokenKeys): string {
  const text = [header, claims].map((part) => Buffer.from(part).toString('base64url')).join('.');
  return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
}

export function signed(header: TokenHeader, claims: object, { privateKey }: TokenKeys): string {
  const text = unsigned(header, claims);
  const signature = SIGN[header.alg]?.(Buffer.from(text), privateKey) ?? Buffer.alloc(0);
  return `${text}.${signature.toString('base64url')}`;
}

/** A token that was signed with a secret, as one would try who knows the public key only. */
export function macSigned(header: object, claims: object, secret: string | Buffer): string {
  const text = unsigned(header, claims);
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
}

const seconds = (): number => Math.floor(Date.now() / 1000);

/** An issuer of tokens that publishes its keys on this machine, and counts who fetches them. */
export class TestIssuer {
  readonly issuer = `https://id.${randomUUID()}.example/`;
  readonly audience = 'gatehouse';
  keys = rsaKeys();
  keyId = 'first';
  /** What it answers to who fetches its keys, in place of them. */
  answer: ((response: ServerResponse) => void) | null = null;
  fetches = 0;
  private readonly server: Server = createServer((_, response) => {
    this.fetches += 1;
    if (this.answer) this.answer(response);
    else response.setHeader('content-type', 'application/json').end(JSON.stringify(this.jwks()));
  });

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await new Promise<void>((resolve) => issuer.server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get uri(): string {
    return `http://127.0.0.1:${this.port}/keys`;
  }

  jwks(): { readonly keys: readonly object[] } {
    return { keys: [jwkOf(this.keys, this.keyId, { use: 'sig', alg: 'RS256' })] };
  }

  /** What a client sets up to accept its tokens. */
  setting(more: object = {}): object {
    return { issuers: [this.issuer], audiences: [this.audience], jwks_uri: this.uri, ...more };
  }

  claims(organizationId: string, more: object = {}): Record<string, unknown> {
    const now = seconds();
    return {
      iss: this.issuer,
      aud: this.audience,
      iat: now,
      exp: now + 600,
      jti: randomUUID(),
      organisation_id: organizationId,
      ...more,
    };
  }

  token(organizationId: string, more: object = {}, header: object = {}): string {
    return signed(
      { alg: 'RS256', kid: this.keyId, typ: 'JWT', ...header },
      this.claims(organizationId, more),
      this.keys,
    );
  }

  rotate(keyId: string): void {
    this.keys = rsaKeys();
    this.keyId = keyId;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
