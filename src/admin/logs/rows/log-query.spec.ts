import 'reflect-metadata';
import { describe, expect, it } from 'vitest';
import { filterConditions } from '../../dto-fields/log-filter-query.dto.js';
import { readQuery } from '../../http/read-query.js';
import { ListLogsQuery, WatchLogsQuery } from '../log-query.dto.js';
import { logQueryOf } from './log-query.js';

const read = (query: Record<string, unknown>) => logQueryOf(readQuery(query, ListLogsQuery));
const conditionsIn = (query: Record<string, unknown>) => filterConditions(readQuery(query, WatchLogsQuery));

const sqlOf = (query: Record<string, unknown>) =>
  read(query).conditions.map(({ sql, parameter }) => [sql('$1'), parameter]);
const ID = '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10';

describe('logQueryOf', () => {
  it.each([
    [
      'time_of_generation_min',
      '2030-01-31T12:00:00+02:00',
      'created_at >= $1::timestamptz',
      '2030-01-31T10:00:00.000Z',
    ],
    ['time_of_generation_max', '2030-01-31', 'created_at <= $1::timestamptz', '2030-01-31T00:00:00.000Z'],
    ['status_code', '200, 429', 'status = ANY($1::smallint[])', ['200', '429']],
    ['ai_org', 'openai,groq', 'provider = ANY($1::text[])', ['openai', 'groq']],
    ['ai_model', "x' OR 1=1--", 'model = ANY($1::text[])', ["x' OR 1=1--"]],
    ['api_key_id', ID, 'api_key_id = ANY($1::uuid[])', [ID]],
    ['virtual_key', 'openai-prod', 'virtual_key = ANY($1::text[])', ['openai-prod']],
    ['status_code_min', '400', 'status >= $1::smallint', '400'],
    ['status_code_max', '499', 'status <= $1::smallint', '499'],
    ['not_status_code', '401,404', '(status = ANY($1::smallint[])) IS NOT TRUE', ['401', '404']],
    ['not_ai_model', 'gpt-5', '(model = ANY($1::text[])) IS NOT TRUE', ['gpt-5']],
    ['not_metadata[team]', 'red', '(metadata @> $1::jsonb) IS NOT TRUE', '{"team":"red"}'],
    ['trace_id', 'a', 'trace_id = ANY($1::text[])', ['a']],
    ['metadata', '{"_user":"ada"}', 'metadata @> $1::jsonb', '{"_user":"ada"}'],
    [`metadata[x' OR 1=1--]`, '1', 'metadata @> $1::jsonb', `{"x' OR 1=1--":"1"}`],
  ])('reads %s', (name, value, sql, parameter) => {
    expect(sqlOf({ [name]: value })).toEqual([[sql, parameter]]);
  });

  it.each([
    ['time_of_generation_min', 'yesterday'],
    ['time_of_generation_max', '2030-13-41'],
    ['time_of_generation_min', '2030-02-30'],
    ['time_of_generation_min', '0000-01-01'],
    ['time_of_generation_min', '0001-01-01T00:00:00+02:00'],
    ['time_of_generation_max', '9999-12-31T23:59:59-05:00'],
    ['status_code', '200; DROP TABLE request_logs'],
    ['status_code', '2'],
    ['status_code_min', '4xx'],
    ['status_code_max', '99'],
    ['not_status_code', '401,'],
    ['not_api_key_id', 'x'],
    ['api_key_id', `${ID}' OR '1'='1`],
    ['ai_model', 'x\0'],
    ['ai_model', 'x,,y'],
    ['ai_model', 'x'.repeat(3_000)],
    ['ai_model', Array.from({ length: 101 }, () => 'x').join(',')],
    ['metadata', '[1]'],
    ['metadata', '{"a":1}'],
    ['metadata', '{"a":"\\ud800"}'],
    ['metadata', '{"a":"\\u0000"}'],
    ['cursor', 'nonsense'],
    ['page_size', '101'],
    ['page_size', '0'],
    ['include_total', 'yes'],
    ['include_total', ''],
    ['include_total', '1'],
  ])('refuses %s=%s, and names it', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(`"${name}"`);
  });

  it.each([
    'sort',
    'not_cost_min',
    'not_is_success',
    'group_by',
    'current_page',
    '__proto__x',
    'constructor',
    'toString',
    'metadata[]',
  ])('refuses the unknown parameter %s', (name) => {
    expect(() => read({ [name]: 'created_at desc,(select pg_sleep(5))' })).toThrow('There is no parameter');
  });

  it.each(['cursor', 'page_size', 'pageSize', 'include_total'])(
    'refuses %s where there are no pages',
    (name) => {
      expect(() => conditionsIn({ [name]: '1' })).toThrow(`There is no parameter "${name}" here.`);
      expect(conditionsIn({ workspace_id: 'ws-one', ai_model: 'gpt-5' })).toHaveLength(1);
    },
  );

  it('refuses a parameter that was sent twice', () => {
    expect(() => read({ ai_model: ['a', 'b'] })).toThrow('only once');
  });

  it('takes pages of fifty, and of a hundred at most', () => {
    expect(read({}).size).toBe(50);
    expect(read({ page_size: '100' }).size).toBe(100);
  });
});
