/** One permission: its description in the picker, and its end of the sentence "This key can …". */
export interface ScopeWords {
  readonly text: string;
  readonly can: string;
}

export interface ScopeGroupWords {
  readonly title: string;
  readonly scopes: Readonly<Record<string, ScopeWords>>;
}

/** The permissions that a workspace key can have, by subject. The names are those of `src/auth/scopes.ts`. */
export const scopeWords: Readonly<Record<string, ScopeGroupWords>> = {
  models: {
    title: 'Models',
    scopes: {
      'completions.write': { text: 'Call models', can: 'call models' },
    },
  },
  logs: {
    title: 'Logs',
    scopes: {
      'logs.list': { text: 'See the list of requests', can: 'see the list of requests' },
      'logs.view': { text: 'Open one request, with its bodies', can: 'open requests, bodies included' },
      'logs.export': { text: 'Export requests to a file', can: 'export requests to a file' },
      'logs.write': { text: 'Log calls made elsewhere, give feedback', can: 'log calls made elsewhere' },
    },
  },
  analytics: {
    title: 'Analytics',
    scopes: {
      'analytics.view': { text: 'Read cost, usage and errors', can: 'read cost, usage and errors' },
    },
  },
  virtual_keys: {
    title: 'Virtual keys',
    scopes: {
      'virtual_keys.list': { text: 'See virtual keys, never their secrets', can: 'see virtual keys' },
      'virtual_keys.read': { text: 'Read one virtual key', can: 'read a virtual key' },
      'virtual_keys.create': { text: 'Store a provider credential', can: 'store provider credentials' },
      'virtual_keys.update': { text: 'Change limits and credentials', can: 'change virtual keys' },
      'virtual_keys.delete': { text: 'Delete a virtual key', can: 'delete virtual keys' },
      'virtual_keys.duplicate': { text: 'Duplicate a virtual key', can: 'duplicate virtual keys' },
      'virtual_keys.copy': { text: 'Copy a virtual key to another workspace', can: 'copy virtual keys' },
    },
  },
  configs: {
    title: 'Configs',
    scopes: {
      'configs.list': { text: 'See routing configs', can: 'see configs' },
      'configs.read': { text: 'Read one config and its versions', can: 'read configs' },
      'configs.create': { text: 'Create a config', can: 'create configs' },
      'configs.update': { text: 'Change a config, go back to a version', can: 'change configs' },
      'configs.delete': { text: 'Delete a config', can: 'delete configs' },
    },
  },
  guardrails: {
    title: 'Guardrails',
    scopes: {
      'guardrails.list': { text: 'See guardrails', can: 'see guardrails' },
      'guardrails.read': { text: 'Read one guardrail', can: 'read guardrails' },
      'guardrails.create': { text: 'Create a guardrail', can: 'create guardrails' },
      'guardrails.update': { text: 'Change a guardrail', can: 'change guardrails' },
      'guardrails.delete': { text: 'Delete a guardrail', can: 'delete guardrails' },
    },
  },
  policies: {
    title: 'Budgets and rate limits',
    scopes: {
      'policies.list': { text: 'See budgets and rate limits', can: 'see budgets and rate limits' },
      'policies.read': { text: 'Read one budget or rate limit', can: 'read a budget or rate limit' },
      'policies.create': { text: 'Create a budget or rate limit', can: 'create budgets and rate limits' },
      'policies.update': { text: 'Change or reset a budget', can: 'change or reset budgets' },
      'policies.delete': { text: 'Archive a budget or rate limit', can: 'archive budgets and rate limits' },
    },
  },
  providers: {
    title: 'Providers',
    scopes: {
      'providers.list': { text: 'See providers', can: 'see providers' },
      'providers.read': { text: 'Read one provider', can: 'read a provider' },
      'providers.create': { text: 'Create a provider', can: 'create providers' },
      'providers.update': { text: 'Change a provider', can: 'change providers' },
      'providers.delete': { text: 'Delete a provider', can: 'delete providers' },
    },
  },
  workspace_integrations: {
    title: 'Integrations',
    scopes: {
      'workspace_integrations.list': { text: 'See integrations of the workspace', can: 'see integrations' },
      'workspace_integrations.read': { text: 'Read one integration', can: 'read an integration' },
      'workspace_integrations.create': {
        text: 'Store credentials for the workspace',
        can: 'store integrations',
      },
      'workspace_integrations.update': { text: 'Change an integration', can: 'change integrations' },
      'workspace_integrations.delete': { text: 'Delete an integration', can: 'delete integrations' },
    },
  },
  workspace_service_api_keys: {
    title: 'API keys of services',
    scopes: {
      'workspace_service_api_keys.list': {
        text: 'See API keys of services',
        can: 'see API keys of services',
      },
      'workspace_service_api_keys.read': { text: 'Read one of them', can: 'read an API key of a service' },
      'workspace_service_api_keys.create': {
        text: 'Create an API key for a service',
        can: 'create API keys for services',
      },
      'workspace_service_api_keys.update': {
        text: 'Change limits and permissions',
        can: 'change API keys of services',
      },
      'workspace_service_api_keys.rotate': { text: 'Replace the secret', can: 'rotate API keys of services' },
      'workspace_service_api_keys.delete': { text: 'Revoke an API key', can: 'revoke API keys of services' },
    },
  },
  workspace_user_api_keys: {
    title: 'API keys of users',
    scopes: {
      'workspace_user_api_keys.list': { text: 'See API keys of users', can: 'see API keys of users' },
      'workspace_user_api_keys.read': { text: 'Read one of them', can: 'read an API key of a user' },
      'workspace_user_api_keys.create': {
        text: 'Create an API key for a user',
        can: 'create API keys for users',
      },
      'workspace_user_api_keys.update': {
        text: 'Change limits and permissions',
        can: 'change API keys of users',
      },
      'workspace_user_api_keys.rotate': { text: 'Replace the secret', can: 'rotate API keys of users' },
      'workspace_user_api_keys.delete': { text: 'Revoke an API key', can: 'revoke API keys of users' },
    },
  },
  workspace_users: {
    title: 'Members',
    scopes: {
      'workspace_users.list': { text: 'See the members', can: 'see the members' },
      'workspace_users.read': { text: 'Read one member', can: 'read a member' },
      'workspace_users.create': { text: 'Add a member', can: 'add members' },
      'workspace_users.update': { text: 'Change the role of a member', can: 'change roles of members' },
      'workspace_users.delete': { text: 'Remove a member', can: 'remove members' },
    },
  },
};
