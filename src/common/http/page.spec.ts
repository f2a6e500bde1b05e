import { describe, expect, it } from 'vitest';
import { pageIn, parameterOf } from './page.js';

describe('pageIn', () => {
  it('begins with the first fifty', () => {
    expect(pageIn({})).toEqual({ skip: 0, take: 50 });
  });

  it.each([
    [{ current_page: '2', page_size: '10' }],
    [{ currentPage: '2', pageSize: '10' }],
    [{ current_page: '2', pageSize: '10', unknown: 'x' }],
  ])('counts pages from 0 in %j', (query) => {
    expect(pageIn(query)).toEqual({ skip: 20, take: 10 });
  });

  it.each([
    { page_size: '0' },
    { page_size: '101' },
    { page_size: '' },
    { page_size: '1e1' },
    { page_size: ' 1' },
    { page_size: '-1' },
    { current_page: '-1' },
    { current_page: '1.5' },
    { current_page: '99999999999999999999' },
    { current_page: ['1', '2'] },
    { current_page: '1', currentPage: '1' },
  ])('refuses %j', (query) => {
    expect(() => pageIn(query)).toThrow(/must be a whole number|only once/);
  });
});

describe('parameterOf', () => {
  it('refuses a parameter that was sent twice', () => {
    expect(() => parameterOf({ workspace_id: ['a', 'b'] }, 'workspace_id')).toThrow('only once');
  });
});
