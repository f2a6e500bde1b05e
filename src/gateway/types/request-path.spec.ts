import { describe, expect, it } from 'vitest';
import { requestPath, withoutParameter } from './request-path.js';

describe('requestPath', () => {
  it("takes the doubled slash out of the path of Google's sessions", () => {
    const session = '/ws/google.ai.generativelanguage.v1beta.X';
    expect(requestPath(`/${session}?a`)).toEqual({ path: session, query: '?a', isProxied: false });
  });

  it.each([
    ['/v1/chat/completions', '/chat/completions', ''],
    ['/v1/x?a=1&a=2&b=%2f..&c', '/x', '?a=1&a=2&b=%2f..&c'],
    ['/v1/proxy/api-keys', '/api-keys', ''],
    ['/v1/proxy/proxy/x', '/proxy/x', ''],
    ['/v1/a%2fb', '/a%2fb', ''],
    ['/v1/files/a...b', '/files/a...b', ''],
    ['/v1//chat', '//chat', ''],
    ['/v1/models/@cf/x', '/models/@cf/x', ''],
    ['/v1/v1/messages', '/v1/messages', ''],
    ['/v1/openai', '/openai', ''],
    ['/v1', '', ''],
    ['/v1?a', '', '?a'],
    ['/v1/', '/', ''],
    ['/ws/google.ai.generativelanguage.v1beta.X', '/ws/google.ai.generativelanguage.v1beta.X', ''],
  ])('keeps %s byte for byte', (target, path, query) => {
    expect(requestPath(target)).toEqual({ path, query, isProxied: target.startsWith('/v1/proxy/') });
  });

  it.each([
    [
      '/v1beta/models/gemini-2.5-pro:generateContent?alt=sse',
      '/v1beta',
      '/models/gemini-2.5-pro:generateContent',
      '?alt=sse',
    ],
    [
      '/v1/v1beta/models/gemini-2.5-pro:generateContent',
      '/v1beta',
      '/models/gemini-2.5-pro:generateContent',
      '',
    ],
    ['/v1/v1/models/gemini-2.5-pro:generateContent', '/v1', '/models/gemini-2.5-pro:generateContent', ''],
    ['/v1alpha/auth_tokens', '/v1alpha', '/auth_tokens', ''],
    ['/v1/v1alpha/models/x', '/v1alpha', '/models/x', ''],
    ['/v1beta/openai/chat/completions', '/v1beta/openai', '/chat/completions', ''],
    ['/v1beta/files', '/v1beta', '/files', ''],
    ['/upload/v1beta/files?upload_id=1', '/upload/v1beta', '/files', '?upload_id=1'],
    ['/upload/v1/files?upload_id=1', '/upload/v1', '/files', '?upload_id=1'],
    ['/upload/v1beta/proxy/x', '/upload/v1beta', '/proxy/x', ''],
    ['/v1beta/proxy/x', '/v1beta', '/proxy/x', ''],
    ['/v1/openai/v1/chat/completions', '/openai/v1', '/chat/completions', ''],
    [
      '/openai/deployments/d%2E1/chat/completions?api-version=1',
      '/openai/deployments/d%2E1',
      '/chat/completions',
      '?api-version=1',
    ],
    ['/v1/openai/deployments/@az/d/embeddings', '/openai/deployments/@az/d', '/embeddings', ''],
    ['/openai/files', '/openai', '/files', ''],
  ])('separates what a client wrote in front of a path from the path: %s', (target, prefix, path, query) => {
    expect(requestPath(target)).toEqual({ path, query, isProxied: false, prefix });
  });

  it.each(['?key=1', '?a=1&key=x', '?key=1&a=1&key', '?a=1&b&key=', '?a=1', '?monkey=1', ''])(
    'leaves a parameter out of %s, and every other byte in',
    (query) => {
      const kept = withoutParameter(query, 'key');
      expect(kept).toBe(query.replace(/(?<=[?&])key(=[^&]*)?(&|$)/g, '').replace(/[?&]$/, ''));
    },
  );

  it.each([
    '/upload/v1beta/../admin',
    '/upload/v1beta/..%2fv1beta',
    '/v1/../admin',
    '/v1/%2e%2e/admin',
    '/v1/.%2E/admin',
    '/v1/..%2fadmin',
    '/v1/a%2f..%2fb',
    '/v1/..%5cadmin',
    '/v1/a\\..\\b',
    '/v1/..;/admin',
    '/v1/./x',
    '/v1/a%00b',
    '/v1/a%0d%0aX:1',
    '/v1/a%zz',
    '/v1/proxy/../x',
    '/openai/deployments/../x',
    '/openai/deployments/%2e%2e/chat/completions',
    '/v1beta/..%2fx',
    '/ws/google.ai.generativelanguage./../x',
    '/v1/models?key=gw_ws_0123456789',
    '/v1/gw_admin_0123456789/x',
  ])('refuses %s', (target) => {
    expect(() => requestPath(target)).toThrow('The request path is invalid');
  });
});
