/** Name of the API key in the OpenAPI document. */
export const API_KEY_SECURITY = 'gateway-api-key';
/** Name of the dashboard session's cookie in the OpenAPI document. */
export const SESSION_SECURITY = 'dashboard-session';
