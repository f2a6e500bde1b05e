/** A field of a credential whose value comes from a secret reference, as stored. */
export interface StoredSecretMapping {
  /** `key`, or an account field of the provider. */
  readonly target_field: string;
  readonly secret_reference_id: string;
  /** A member of the secret's JSON object instead of the reference's own; null for the reference's own. */
  readonly secret_key: string | null;
  readonly value_format: 'json' | 'string' | null;
}
