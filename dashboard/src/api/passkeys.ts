import { ApiError, client, dataOf } from './client';

/**
 * Whether the browser supports the JSON methods of WebAuthn Level 3: https://www.w3.org/TR/webauthn-3/#sctn-parseCreationOptionsFromJSON
 */
export const canUsePasskeys = (): boolean =>
  'PublicKeyCredential' in window && 'parseRequestOptionsFromJSON' in PublicKeyCredential;

type Options = Readonly<Record<string, unknown>>;

async function shownPasskey(): Promise<Record<string, unknown>> {
  const { options } = await dataOf(client.POST('/v1/auth/passkeys/request-options'));
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as unknown as PublicKeyCredentialRequestOptionsJSON,
  );
  return jsonOf(await navigator.credentials.get({ publicKey }));
}

function jsonOf(credential: Credential | null): Record<string, unknown> {
  if (!(credential instanceof PublicKeyCredential)) throw new ApiError(0, 'passkey_failed', '');
  return credential.toJSON() as unknown as Record<string, unknown>;
}

export const signInWithPasskey = async (): Promise<unknown> =>
  dataOf(client.POST('/v1/auth/passkeys/sign-in', { body: { credential: await shownPasskey() } }));

export const stepUpWithPasskey = async (): Promise<unknown> =>
  dataOf(client.POST('/v1/auth/passkeys/step-up', { body: { credential: await shownPasskey() } }));

/** Creates a passkey on this device or one nearby, and stores its public key. */
export async function addPasskey(name: string): Promise<unknown> {
  const { options } = await dataOf(client.POST('/v1/auth/passkeys/creation-options'));
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as Options as unknown as PublicKeyCredentialCreationOptionsJSON,
  );
  const credential = jsonOf(await navigator.credentials.create({ publicKey }));
  return dataOf(client.POST('/v1/auth/passkeys', { body: { name, credential } }));
}
