import { noAuth } from '../auth-scheme.js';
import { openai } from '../dialects/untranslated.js';
import type { Provider } from '../provider.js';
import { sandboxPrices } from '../sandbox/models.js';

/**
 * The built-in provider: runs inside the gateway, is deterministic, and needs no account. The base URL is a name that can never be called
 * (RFC 2606 reserves `.invalid`); it only appears in logs.
 */
export const sandbox: Provider = {
  id: 'sandbox',
  name: 'Sandbox (built in, answers are made up)',
  baseUrl: 'https://sandbox.invalid/v1',
  dialect: openai,
  auth: noAuth,
  endpoints: ['chat-completions'],
  streamUsage: { reported: 'on-request' },
  pricesId: null,
  prices: sandboxPrices,
  inProcess: true,
  source: 'https://platform.openai.com/docs/api-reference/chat',
};
