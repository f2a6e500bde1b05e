import type { Endpoint } from '../endpoint.js';
import { chatCompletionsUsage } from './chat-completions.js';

/** The first-class endpoints. To add one, add a row; every other path is a pass-through. */
export const endpoints: readonly Endpoint[] = [
  {
    id: 'chat-completions',
    method: 'POST',
    path: '/chat/completions',
    title: 'chat completions',
    body: 'json',
    usage: chatCompletionsUsage,
  },
];

const byMethod = new Map<string, Map<string, Endpoint>>();
for (const endpoint of endpoints) {
  const paths = byMethod.get(endpoint.method) ?? new Map<string, Endpoint>();
  byMethod.set(endpoint.method, paths.set(endpoint.path, endpoint));
}

/**
 * The endpoint of a method and a path below `/v1` (`/chat/completions`, without a query), or null for a
 * pass-through. Compares exactly: two map look-ups per request.
 */
export function findEndpointRow(method: string, path: string): Endpoint | null {
  return byMethod.get(method)?.get(path) ?? null;
}
