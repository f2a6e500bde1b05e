import type { LogRedaction } from './log-redaction.js';

/** Positions of the switches that an organization has set, by their API names. Absent switches have their default. */
export type PolicyFlags = Readonly<Record<string, boolean>>;

/** An organization's settings for all of its workspaces. Null means not set. */
export interface OrganizationSettings {
  readonly security_settings: PolicyFlags | null;
  /** Ids of the allowed providers. */
  readonly allowed_providers: readonly string[] | null;
  /** Models that may be requested, exactly as named in requests, without `@slug/`. */
  readonly allowed_models: readonly string[] | null;
  /** False: no request bodies are kept. */
  readonly log_bodies: boolean;
  /** True: requests that cannot be recorded are refused. */
  readonly strict_logging: boolean;
  /** Slugs or ids of the organization's own guardrails, which apply to every request before all others. */
  readonly input_guardrails: readonly string[] | null;
  readonly output_guardrails: readonly string[] | null;
  /** Retention of logs and bodies in days, unless their workspace sets its own; null for the installation's. */
  readonly log_retention_days: number | null;
  readonly body_retention_days: number | null;
  /** Content that the log must not keep. */
  readonly log_redaction: LogRedaction | null;
  /** Fields that exports of the log may not contain; `deniedFields` is the compatible API's name. */
  readonly export_settings: { readonly deniedFields: readonly string[] } | null;
}

export const USUAL_SETTINGS: OrganizationSettings = {
  security_settings: null,
  allowed_providers: null,
  allowed_models: null,
  log_bodies: true,
  strict_logging: false,
  input_guardrails: null,
  output_guardrails: null,
  log_retention_days: null,
  body_retention_days: null,
  log_redaction: null,
  export_settings: null,
};
