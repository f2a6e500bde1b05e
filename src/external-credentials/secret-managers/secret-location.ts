import { AppError } from '../../common/errors/app-error.js';
import type { Secret } from '../../common/settings/secret.js';
import type { ManagerType } from './manager-table.js';

/** Where a secret is, and how to get it. */
export interface SecretLocation {
  /** Slug of the secret reference, for errors. */
  readonly reference: string;
  /** Separates the connections and the files of organizations. */
  readonly organizationId: string;
  readonly manager: ManagerType;
  /** Fields of the mode, and the field that chooses it. */
  readonly auth: Readonly<Record<string, string>>;
  /** Secret fields of the mode. */
  readonly secrets: Readonly<Record<string, Secret>>;
  readonly path: string;
}

/** Reads secrets of one manager. */
export interface SecretManager {
  /**
   * The secret as the manager stores it: a text, or a JSON object. Rejects with `secret_unavailable` if the manager cannot be reached, and
   * with `secret_unusable` if it refuses.
   */
  read(location: SecretLocation): Promise<Secret>;
}

/** The manager refuses, or its secret has the wrong form: a repetition would fail, too. `detail` never contains what the manager said. */
export const unusableSecret = ({ reference }: Pick<SecretLocation, 'reference'>, detail: string): AppError =>
  new AppError('secret_unusable', { reference, detail });

/** The manager cannot be reached at the moment. */
export const unavailableSecret = (
  { reference }: Pick<SecretLocation, 'reference'>,
  detail: string,
  cause?: unknown,
): AppError => new AppError('secret_unavailable', { reference, detail }, { cause });

/** A field of the mode, which the administration has checked. */
export function authField(location: SecretLocation, name: string): string {
  const value = location.auth[name];
  if (value === undefined) throw unusableSecret(location, `its "auth_config" has no "${name}"`);
  return value;
}

/** A secret field of the mode. */
export function authSecret(location: SecretLocation, name: string): Secret {
  const value = location.secrets[name];
  if (value === undefined) throw unusableSecret(location, `its "auth_config" has no "${name}"`);
  return value;
}
