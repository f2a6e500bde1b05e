/**
 * The rows behind a virtual key with its own credential, or behind a workspace's provider, which takes destination and credential from its
 * integration.
 */
export const USABLE_KEYS = `
  FROM virtual_keys key
    JOIN organizations organization ON organization.id = key.organization_id
    LEFT JOIN integrations shared ON shared.id = key.integration_id AND shared.organization_id = key.organization_id
    LEFT JOIN integration_workspaces link ON link.integration_id = shared.id AND link.workspace_id = key.workspace_id`;

/** True without an integration, or if its workspace may use the integration. */
export const MAY_USE = `(key.integration_id IS NULL OR shared.workspace_id = key.workspace_id
      OR (shared.workspace_id IS NULL AND coalesce(link.is_enabled, shared.is_open_to_all_workspaces)))`;

/** The integration's entries for models. */
export const OWN_MODELS = `
    (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'is_enabled', is_enabled, 'price', price))
      FROM integration_models WHERE integration_id = shared.id)`;
