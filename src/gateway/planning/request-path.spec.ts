import { describe, expect, it } from 'vitest';
import { requestPath } from './request-path.js';

describe('requestPath', () => {
  it.each([
    ['/v1/chat/completions', '/chat/completions', ''],
    ['/v1/x?a=1&a=2&b=%2f..&c', '/x', '?a=1&a=2&b=%2f..&c'],
    ['/v1/proxy/api-keys', '/api-keys', ''],
    ['/v1/proxy/proxy/x', '/proxy/x', ''],
    ['/v1/a%2fb', '/a%2fb', ''],
    ['/v1/files/a...b', '/files/a...b', ''],
    ['/v1//chat', '//chat', ''],
    ['/v1/models/@cf/x', '/models/@cf/x', ''],
    ['/v1/proxy/v1beta/models/x', '/v1beta/models/x', ''],
    ['/v1/v1beta/other', '/v1beta/other', ''],
  ])('keeps %s byte for byte', (target, path, query) => {
    expect(requestPath(target)).toEqual({ path, query, isProxied: target.startsWith('/v1/proxy/') });
  });

  it.each([
    [
      '/v1beta/models/gemini-2.5-pro:generateContent?alt=sse',
      '/models/gemini-2.5-pro:generateContent',
      '?alt=sse',
    ],
    ['/v1/v1beta/models/gemini-2.5-pro:generateContent', '/models/gemini-2.5-pro:generateContent', ''],
    ['/v1beta/files', '/files', ''],
    ['/v1/openai/v1/chat/completions', '/chat/completions', ''],
  ])('leaves out of %s what a client added and the base URL has', (target, path, query) => {
    expect(requestPath(target)).toEqual({ path, query, isProxied: target.startsWith('/v1/proxy/') });
  });

  it.each([
    ['/upload/v1beta/files?upload_id=1', '/files', '?upload_id=1'],
    ['/upload/v1beta/proxy/x', '/proxy/x', ''],
  ])('knows that %s belongs where a provider takes uploads', (target, path, query) => {
    expect(requestPath(target)).toEqual({ path, query, isProxied: false, isUpload: true });
  });

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
    '/v1/models?key=gw_ws_0123456789',
    '/v1/gw_admin_0123456789/x',
  ])('refuses %s', (target) => {
    expect(() => requestPath(target)).toThrow('The request path is not acceptable');
  });
});
