import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Cbor = number | string | Buffer | Map<number | string, Cbor>;

/** As far as attestations and keys need it: https://www.rfc-editor.org/rfc/rfc8949#section-3 */
function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  return Buffer.concat([
    head(5, value.size),
    ...[...value].flatMap(([name, field]) => [cbor(name), cbor(field)]),
  ]);
}

function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}

const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** What an attacker, or a broken authenticator, does differently. */
export interface Misbehaviour {
  readonly origin?: string;
  readonly rpId?: string;
  readonly isUserVerified?: boolean;
  readonly counter?: number;
  readonly challenge?: string;
  readonly type?: string;
  readonly key?: KeyObject;
}

const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

/** A browser with a security key, in software: https://www.w3.org/TR/webauthn-3/#sctn-authenticator-data */
export class PasskeyAuthenticator {
  readonly id = randomBytes(32);
  counter = 0;
  private readonly keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });

  constructor(
    private readonly origin: string,
    private readonly rpId: string,
  ) {}

  /** Answers creation options, as `navigator.credentials.create` does. */
  create(options: { readonly challenge: string }, wrong: Misbehaviour = {}): object {
    const { x = '', y = '' } = this.keys.publicKey.export({ format: 'jwk' });
    const cose = new Map<number, Cbor>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ]);
    const idLength = Buffer.from([this.id.length >> 8, this.id.length & 255]);
    const attested = Buffer.concat([Buffer.alloc(16), idLength, this.id, cbor(cose)]);
    const authData = Buffer.concat([this.authData(HAS_CREDENTIAL, wrong), attested]);
    const attestation = new Map<string, Cbor>([
      ['fmt', 'none'],
      ['attStmt', new Map()],
      ['authData', authData],
    ]);
    return this.credential({
      clientDataJSON: this.clientData('webauthn.create', options.challenge, wrong).toString('base64url'),
      attestationObject: cbor(attestation).toString('base64url'),
      transports: ['internal'],
    });
  }

  /** Answers request options, as `navigator.credentials.get` does. */
  show(options: { readonly challenge: string }, wrong: Misbehaviour = {}): object {
    this.counter += 1;
    const authData = this.authData(0, wrong);
    const clientData = this.clientData('webauthn.get', options.challenge, wrong);
    const signed = Buffer.concat([authData, sha256(clientData)]);
    return this.credential({
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: authData.toString('base64url'),
      signature: sign('sha256', signed, wrong.key ?? this.keys.privateKey).toString('base64url'),
    });
  }

  private credential(response: object): object {
    const id = this.id.toString('base64url');
    return { id, rawId: id, type: 'public-key', clientExtensionResults: {}, response };
  }

  private clientData(type: string, challenge: string, wrong: Misbehaviour): Buffer {
    const said = { type: wrong.type ?? type, challenge: wrong.challenge ?? challenge };
    return Buffer.from(JSON.stringify({ ...said, origin: wrong.origin ?? this.origin, crossOrigin: false }));
  }

  private authData(flags: number, { rpId, isUserVerified = true, counter }: Misbehaviour): Buffer {
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter ?? this.counter);
    const all = flags | USER_PRESENT | (isUserVerified ? USER_VERIFIED : 0);
    return Buffer.concat([sha256(rpId ?? this.rpId), Buffer.from([all]), count]);
  }
}
