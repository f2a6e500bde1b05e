import { describe, expect, it } from 'vitest';
import { unknownPathError } from './unknown-path.js';

const ROUTES = [
  '/v1/virtual-keys',
  '/v1/virtual-keys/:slug',
  '/v1/api-keys/workspace/service',
  '/v1/configs',
  '/readyz',
];

describe('unknownPath', () => {
  it.each([
    [
      '/chat/completions',
      "There is no such path (did you mean /v1/chat/completions?). Set the client's base URL to <address>/v1.",
    ],
    [
      '/chat/completion',
      "There is no such path (did you mean /v1/chat/completions?). Set the client's base URL to <address>/v1.",
    ],
    [
      '/models',
      "There is no such path (did you mean /v1/models?). Set the client's base URL to <address>/v1.",
    ],
    [
      '/virtual-keys/mine',
      "There is no such path (did you mean /v1/virtual-keys/mine?). Set the client's base URL to <address>/v1.",
    ],
    [
      '/v1/api-keys/workspaces/service',
      'There is no such path (did you mean /v1/api-keys/workspace/service?).',
    ],
    ['/v1/configs/', 'There is no such path (did you mean /v1/configs?).'],
    ['/v1/virtual-keys/mine/nothing', 'There is no such path.'],
    ['/ready', 'There is no such path (did you mean /readyz?).'],
    ['/', 'There is no such path.'],
  ])('says what %s may have meant', (path, message) => {
    expect(unknownPathError(path, ROUTES).message).toBe(message);
  });
});
