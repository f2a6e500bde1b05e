import type { ScopeGroupWords } from './scopes';

/** The permissions that only admin keys can have, and those on workspaces as a whole. */
export const adminScopeWords: Readonly<Record<string, ScopeGroupWords>> = {
  workspaces: {
    title: 'Workspaces',
    scopes: {
      'workspaces.list': { text: 'See workspaces', can: 'see workspaces' },
      'workspaces.read': { text: 'Read one workspace', can: 'read a workspace' },
      'workspaces.create': { text: 'Create a workspace', can: 'create workspaces' },
      'workspaces.update': { text: 'Change limits and defaults', can: 'change workspaces' },
      'workspaces.delete': { text: 'Delete a workspace', can: 'delete workspaces' },
    },
  },
  organisation_users: {
    title: 'Users of the organization',
    scopes: {
      'organisation_users.list': { text: 'See users and invites', can: 'see users and invites' },
      'organisation_users.read': { text: 'Read one user', can: 'read a user' },
      'organisation_users.create': { text: 'Invite a user', can: 'invite users' },
      'organisation_users.update': { text: 'Change roles, deactivate users', can: 'change users' },
      'organisation_users.delete': { text: 'Remove a user', can: 'remove users' },
    },
  },
  organisation_service_api_keys: {
    title: 'Admin keys',
    scopes: {
      'organisation_service_api_keys.list': { text: 'See admin keys', can: 'see admin keys' },
      'organisation_service_api_keys.read': { text: 'Read one of them', can: 'read an admin key' },
      'organisation_service_api_keys.create': { text: 'Create an admin key', can: 'create admin keys' },
      'organisation_service_api_keys.update': { text: 'Change permissions', can: 'change admin keys' },
      'organisation_service_api_keys.rotate': { text: 'Replace the secret', can: 'rotate admin keys' },
      'organisation_service_api_keys.delete': { text: 'Revoke an admin key', can: 'revoke admin keys' },
    },
  },
  organisation_integrations: {
    title: 'Integrations of the organization',
    scopes: {
      'organisation_integrations.list': {
        text: 'See integrations of the organization',
        can: 'see integrations of the organization',
      },
      'organisation_integrations.read': {
        text: 'Read one of them',
        can: 'read an integration of the organization',
      },
      'organisation_integrations.create': {
        text: 'Store credentials for all workspaces',
        can: 'store integrations of the organization',
      },
      'organisation_integrations.update': {
        text: 'Change an integration',
        can: 'change integrations of the organization',
      },
      'organisation_integrations.delete': {
        text: 'Delete an integration',
        can: 'delete integrations of the organization',
      },
    },
  },
  organisation_settings: {
    title: 'Settings of the organization',
    scopes: {
      'organisation_settings.read': { text: 'Read settings', can: 'read settings of the organization' },
      'organisation_settings.update': { text: 'Change settings', can: 'change settings of the organization' },
    },
  },
  audit_logs: {
    title: 'Audit log',
    scopes: {
      'audit_logs.list': { text: 'Read and export the audit log', can: 'read the audit log' },
    },
  },
};
