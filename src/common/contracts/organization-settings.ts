import type { LogRedaction } from './log-redaction.js';

/** Positions of the switches that an organization has set, by their names in the API. One that is absent is as usual. */
export type SwitchPositions = Readonly<Record<string, boolean>>;

/** What an organization decides for all of its workspaces. Null where it has decided nothing. */
export interface OrganizationSettings {
  readonly security_settings: SwitchPositions | null;
  /** Ids of the providers that may be called. */
  readonly allowed_providers: readonly string[] | null;
  /** Models that may be asked for, exactly as they are named in requests, without a `@slug/`. */
  readonly allowed_models: readonly string[] | null;
  /** False: no bodies are kept of any request. */
  readonly log_bodies: boolean;
  /** True: when a request cannot be recorded it is refused. */
  readonly strict_logging: boolean;
  /** Slugs or ids of the organization's own guardrails, which apply to every request before all others. */
  readonly input_guardrails: readonly string[] | null;
  readonly output_guardrails: readonly string[] | null;
  /** Days for which logs and bodies are kept where their workspace does not say; null for the installation's. */
  readonly log_retention_days: number | null;
  readonly body_retention_days: number | null;
  /** What the log must not keep of requests. */
  readonly log_redaction: LogRedaction | null;
  /** What exports of the log may not have; the name inside is the compatible API's. */
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
