/** As in the API; the dashboard shows an `organisation-service` key as an Admin key. */
export const API_KEY_TYPES = ['organisation-service', 'workspace-service', 'workspace-user'] as const;

export type ApiKeyType = (typeof API_KEY_TYPES)[number];
