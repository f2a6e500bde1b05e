/** As the API writes it; an `organisation-service` key is what people call an Admin key. */
export type ApiKeyType = 'organisation-service' | 'workspace-service' | 'workspace-user';
