import { describe, expect, it } from 'vitest';
import { StatementNames } from './statement-names.js';

const failure = (message: string, code?: string) => Object.assign(new Error(message), { code });
const named = (names: StatementNames, text: string) => [1, 2, 3].map(() => names.of(text)).at(-1);

describe('StatementNames', () => {
  it('names a text that comes again, by what it says', () => {
    const names = new StatementNames();
    expect([names.of('SELECT 1'), names.of('SELECT 1')]).toEqual([undefined, undefined]);

    const name = names.of('SELECT 1');
    expect(name).toMatch(/^gatehouse_[\w-]{22}$/);
    expect(names.of('SELECT 1')).toBe(name);
    expect(named(new StatementNames(), 'SELECT 1')).toBe(name);
    expect(named(names, 'SELECT 2')).not.toBe(name);
  });

  it('names an own text at once', () => {
    const names = new StatementNames();
    expect(names.ofOwn('START TRANSACTION')).toBe(names.of('START TRANSACTION'));
  });

  it('does not fill the memory of the sessions, however many texts there are', () => {
    const names = new StatementNames();
    const given = Array.from({ length: 5_000 }, (_, index) => named(names, `SELECT ${index}`));
    expect(given.filter((name) => name !== undefined)).toHaveLength(200);
  });

  it.each([
    failure('prepared statement "x" does not exist', '26000'),
    failure('prepared statement "x" already exists', '42P05'),
    Object.assign(new Error('wrapped'), { driverError: failure('does not exist', '26000') }),
    failure('cached plan must not change result type', '0A000'),
  ])('gives no names where they do not work: $message', (error) => {
    const names = new StatementNames();
    named(names, 'SELECT 1');
    names.hear(error);
    expect([names.of('SELECT 1'), names.ofOwn('SELECT 1')]).toEqual([undefined, undefined]);
  });

  it('goes on after any other failure', () => {
    const names = new StatementNames();
    names.hear(failure('duplicate key', '23505'));
    expect(names.ofOwn('SELECT 1')).toBeDefined();
  });
});
