import { describe, expect, it } from 'vitest';
import { logFormat } from './log-settings.js';

describe('logFormat', () => {
  it('is text on a terminal and JSON in a pipe', () => {
    expect(logFormat({}, true)).toBe('text');
    expect(logFormat({}, false)).toBe('json');
    expect(logFormat({ GATEHOUSE_LOG_FORMAT: 'auto' }, true)).toBe('text');
  });

  it('is what the setting says, whatever the output is', () => {
    expect(logFormat({ GATEHOUSE_LOG_FORMAT: 'json' }, true)).toBe('json');
    expect(logFormat({ GATEHOUSE_LOG_FORMAT: 'text' }, false)).toBe('text');
  });
});
