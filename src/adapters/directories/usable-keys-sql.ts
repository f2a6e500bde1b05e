/**
 * What a virtual key is made of: a key of its own, or a workspace's provider, which has its destination and credential from
 * its integration.
 */
export const USABLE_KEYS = `
  FROM virtual_keys key
    JOIN organizations organization ON organization.id = key.organization_id
    LEFT JOIN integrations shared ON shared.id = key.integration_id AND shared.organization_id = key.organization_id
    LEFT JOIN integration_workspaces link ON link.integration_id = shared.id AND link.workspace_id = key.workspace_id`;

/** Its workspace may use the integration, where it is one's. */
export const MAY_USE = `(key.integration_id IS NULL OR shared.workspace_id = key.workspace_id
      OR (shared.workspace_id IS NULL AND coalesce(link.is_enabled, shared.is_open_to_all_workspaces)))`;

/** What the integration says of models. */
export const OWN_MODELS = `
    (SELECT jsonb_agg(jsonb_build_object('slug', slug, 'is_enabled', is_enabled, 'price', price))
      FROM integration_models WHERE integration_id = shared.id)`;
