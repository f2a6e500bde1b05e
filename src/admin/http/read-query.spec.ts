import 'reflect-metadata';
import type { Type } from '@nestjs/common';
import { describe, expect, it } from 'vitest';
import { type AppError, errorBody } from '../../common/errors/app-error.js';
import { pageOf } from '../../common/http/page.js';
import { PageQuery, WorkspacePageQuery } from './page-query.dto.js';
import { AnyQuery, QueryDto } from './query.dto.js';
import { QueryChoice, QueryEmail, QueryField, QueryFlag, QueryId } from './query-fields.js';
import { readQuery } from './read-query.js';

class SearchQuery extends QueryDto {
  @QueryChoice(['active', 'archived'], 'State of the resource.')
  readonly status?: string;

  @QueryFlag('Only checks the request.')
  readonly dry_run: boolean = false;

  @QueryId('Id of the user.', 'must be the id of a user')
  readonly user_id?: string;

  @QueryEmail('Address of the user.')
  readonly email?: string;
}

class NamesQuery extends QueryDto {
  @QueryField(
    { type: String, required: true, description: 'Names of models.' },
    'must name models',
    (text) => (text === '' ? undefined : text.split(',')),
  )
  readonly names: readonly string[];
}

const refusalOf = (sent: object, type: Type<QueryDto>): AppError => {
  try {
    readQuery(sent, type);
  } catch (error) {
    return error as AppError;
  }
  return expect.fail('The query was accepted.');
};

describe('a query', () => {
  it('has the defaults of its DTO, and nothing for other parameters that were not sent', () => {
    expect(pageOf(readQuery({}, PageQuery))).toEqual({ skip: 0, take: 50 });
    expect(readQuery({}, SearchQuery).dry_run).toBe(false);
    expect(readQuery({}, SearchQuery).status).toBeUndefined();
  });

  it.each([
    { current_page: '2', page_size: '10' },
    { currentPage: '2', pageSize: '10' },
    { current_page: '2', pageSize: '10' },
  ])('reads the page in both spellings: %j', (query) => {
    expect(pageOf(readQuery(query, PageQuery))).toEqual({ skip: 20, take: 10 });
  });

  it('passes values on as the fields read them', () => {
    const sent = {
      status: 'active',
      dry_run: 'true',
      user_id: '0199A0E4-6F0C-7B31-9C3F-2F4F9A1E6D10',
      email: 'Ada@Example.com',
    };
    expect(readQuery(sent, SearchQuery)).toMatchObject({
      status: 'active',
      dry_run: true,
      user_id: '0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10',
      email: 'ada@example.com',
    });
    expect(readQuery({ names: 'a,b' }, NamesQuery).names).toEqual(['a', 'b']);
  });

  it.each([
    [{ current_page: '-1' }, PageQuery, 'current_page', 'must be a whole number from 0 to 1000000'],
    [{ current_page: '1.5' }, PageQuery, 'current_page', 'must be a whole number from 0 to 1000000'],
    [{ current_page: '' }, PageQuery, 'current_page', 'must be a whole number from 0 to 1000000'],
    [{ current_page: '1000001' }, PageQuery, 'current_page', 'must be a whole number from 0 to 1000000'],
    [{ page_size: '0' }, PageQuery, 'page_size', 'must be a whole number from 1 to 100'],
    [{ pageSize: '101' }, PageQuery, 'page_size', 'must be a whole number from 1 to 100'],
    [{ page_size: ['1', '2'] }, PageQuery, 'page_size', 'may be sent only once'],
    [{ page_size: '1', pageSize: '1' }, PageQuery, 'page_size', 'may be sent only once'],
    [{ workspace_id: ['a', 'b'] }, WorkspacePageQuery, 'workspace_id', 'may be sent only once'],
    [{ workspace_id: 'a\0' }, WorkspacePageQuery, 'workspace_id', 'must not contain a NUL character'],
    [{ status: 'gone' }, SearchQuery, 'status', 'must be one of: active, archived'],
    [{ status: '' }, SearchQuery, 'status', 'must be one of: active, archived'],
    [{ dry_run: 'yes' }, SearchQuery, 'dry_run', 'must be "true" or "false"'],
    [{ user_id: '7' }, SearchQuery, 'user_id', 'must be the id of a user'],
    [{ email: 'ada' }, SearchQuery, 'email', 'must be an e-mail address'],
    [{ names: '' }, NamesQuery, 'names', 'must name models'],
    [{}, NamesQuery, 'names', 'must name models'],
  ])('refuses %j', (sent, type, name, rule) => {
    const error = refusalOf(sent, type);
    expect(error.message).toContain(`The parameter "${name}" ${rule}.`);
    expect(errorBody(error, 'id').error).toMatchObject({ code: 'invalid_request', param: name });
  });

  it.each(['stat', 'toString', 'constructor', '__proto__', 'page_size'])(
    'refuses the parameter "%s", which the DTO does not have, before it checks the others',
    (name) => {
      const sent = Object.fromEntries([
        ['dry_run', 'yes'],
        [name, '1'],
      ]);
      const error = refusalOf(sent, SearchQuery);
      expect(error.message).toContain(`There is no parameter "${name}" here`);
      expect(error.message).toContain('This operation accepts: dry_run, email, status, user_id.');
    },
  );

  it('of another party is passed on as it is', () => {
    expect(readQuery({ state: ['a', 'b'] }, AnyQuery)).toEqual({ state: ['a', 'b'] });
  });
});
