import { describe, expect, it } from 'vitest';
import { ToolNames } from './tool-names.js';

const tool = (name: string) => ({ type: 'function', name });
const within = (name: string, ...tools: readonly object[]) => ({ type: 'namespace', name, tools });
/** OpenAI's and Bedrock's rule, which is the narrowest, and Gemini's first character. */
const ACCEPTED = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

describe('names of tools', () => {
  it.each([
    ['a dot', 'mcp__files', 'read.file'],
    ['a digit at the beginning', undefined, '7zip'],
    ['another script', 'ツール', '読む'],
    ['80 characters', 'mcp__a_server', 'x'.repeat(80)],
  ])('with %s are accepted by every provider and come back', (_, namespace, name) => {
    const tools = [namespace === undefined ? tool(name) : within(namespace, tool(name))];
    const names = ToolNames.of({ tools });

    expect(names.of(name, namespace)).toMatch(ACCEPTED);
    expect(names.find(names.of(name, namespace))).toMatchObject({ name });
    expect(names.find(names.of(name, namespace))?.namespace).toBe(namespace);
  });

  it('that differ only where they are cut or replaced stay apart', () => {
    const given = ['read.file', 'read/file', `${'x'.repeat(70)}a`, `${'x'.repeat(70)}b`];
    const names = ToolNames.of({ tools: given.map(tool) });

    expect(new Set(given.map((name) => names.of(name))).size).toBe(given.length);
  });

  it('that would be the same with their namespace stay apart', () => {
    const names = ToolNames.of({ tools: [tool('a__b'), within('a', tool('b'))] });

    expect(names.find(names.of('a__b'))).toEqual({ kind: 'function', name: 'a__b' });
    expect(names.find(names.of('b', 'a'))).toEqual({ kind: 'function', name: 'b', namespace: 'a' });
  });

  it('stay the same when the request no longer declares the tool', () => {
    const declared = ToolNames.of({ tools: [within('mcp__files', tool('read.file'))] });

    expect(ToolNames.of({}).of('read.file', 'mcp__files')).toBe(declared.of('read.file', 'mcp__files'));
  });
});
