/** As the API writes it; an `organisation-service` key is what people call an Admin key. */
export const API_KEY_TYPES = ['organisation-service', 'workspace-service', 'workspace-user'] as const;

export type ApiKeyType = (typeof API_KEY_TYPES)[number];
