import { describe, expect, it } from 'vitest';
import { baseUrl } from './base-url.js';
import { loadSettings } from './settings.js';

describe('baseUrl', () => {
  it.each([
    [{ GATEHOUSE_HOST: '127.0.0.1' }, 'http://127.0.0.1:80'],
    [{ GATEHOUSE_HOST: '0.0.0.0' }, 'http://127.0.0.1:80'],
    [{ GATEHOUSE_HOST: '::1' }, 'http://[::1]:80'],
    [{ GATEHOUSE_PUBLIC_URL: 'https://ai.example.com/' }, 'https://ai.example.com'],
  ])('%j gives %s', (environment, expected) => {
    expect(baseUrl(loadSettings(environment), 80)).toBe(expected);
  });
});
