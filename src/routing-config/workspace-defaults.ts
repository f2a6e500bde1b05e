import type { ClientDisconnectRule } from '../common/contracts/client-disconnect.js';
import type { CacheRules } from './document.js';

/** What requests of a workspace get, whatever they say themselves. Under the names of the API. */
export interface WorkspaceDefaults {
  readonly metadata?: Readonly<Record<string, string>>;
  /** Slugs or ids of stored guardrails. */
  readonly input_guardrails?: readonly string[];
  readonly output_guardrails?: readonly string[];
  /** Slug or id of the config for user keys that have none of their own. */
  readonly user_api_key_config?: string | null;
  /** The response cache, for what configs and requests do not say of it themselves. */
  readonly cache?: CacheRules | null;
  /** What becomes of an attempt whose client leaves, where its config and its virtual key do not say. */
  readonly on_client_disconnect?: ClientDisconnectRule | null;
}

/** As a client sends them: null removes the current value. */
export type GivenDefaults = { readonly [Name in keyof WorkspaceDefaults]: WorkspaceDefaults[Name] | null };
