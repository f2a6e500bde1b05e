import { expect, it } from 'vitest';
import { readableCodings } from './own-request.js';

it.each([
  undefined,
  '',
  'identity',
  'gzip, deflate, br',
  'GZIP;q=0.5, x-gzip',
  '*;q=0',
  'br;q=1.0, compress;q=0',
])('leaves %j as it is', (accepted) => {
  expect(readableCodings(accepted)).toEqual([]);
});

it.each([
  ['compress', 'identity'],
  ['*', 'identity'],
  ['gzip, deflate, br, compress', 'gzip, deflate, br'],
  ['compress;q=1.0,gzip;q=0.5,*;q=0.1', 'gzip;q=0.5'],
  ['compress, identity;q=0', 'identity'],
  ['compress, br', 'br'],
])('replaces %j by %j, which can be read', (accepted, readable) => {
  expect(readableCodings(accepted)).toEqual(['accept-encoding', readable]);
});
