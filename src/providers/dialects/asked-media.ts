import { fieldError } from '../../common/errors/field-errors.js';
import type { Json } from '../endpoint.js';
import { wordOf } from '../endpoints/reading.js';
import { MediaFile } from '../translation.js';
import { because, type Impossible, unsupportedParameter } from './refusing.js';

/** Reads requests to the hub's image and audio endpoints. Fields of forms are strings. */

/** The only file of a form. Throws `invalid_request` if there is none, and `parameter_unsupported` for several. */
export function fileIn(hub: Json, name: string): MediaFile {
  const value = hub[name];
  const files = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  if (files.length > 1) throw unsupportedParameter(name, 'this provider takes one file');
  if (files[0] instanceof MediaFile) return files[0];
  throw fieldError(name, 'must be a file');
}

/** Null if it is absent. */
export function maybeFileIn(hub: Json, name: string): MediaFile | null {
  return hub[name] === undefined ? null : fileIn(hub, name);
}

/** A required string. */
export function textIn(hub: Json, name: string): string {
  const value = hub[name];
  if (typeof value === 'string' && value !== '') return value;
  throw fieldError(name, 'must be a string');
}

/** A number, or a numeric string of a form; undefined if it is absent. */
export function numberIn(hub: Json, name: string): number | undefined {
  const value = hub[name] ?? '';
  if (value === '') return undefined;
  const read = typeof value === 'string' && /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value) ? Number(value) : value;
  if (typeof read === 'number' && Number.isFinite(read)) return read;
  throw fieldError(name, 'must be a number');
}

/** Without absent values and nulls. */
export const withoutNulls = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => (value ?? null) !== null));

/** Fields that the hub does not have: they are passed on under their own names. Further files are not. */
export const others = (hub: Json, read: ReadonlySet<string>): Json =>
  Object.fromEntries(
    Object.entries(hub).filter(([name, value]) => !read.has(name) && !(value instanceof MediaFile)),
  );

/** The fields as parts of a form: absent ones and nulls are left out, and lists are repeated. */
export const formPartsOf = (fields: Json): readonly (readonly [name: string, value: string])[] =>
  Object.entries(withoutNulls(fields)).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly unknown[]) : [value])
      .filter((item) => typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean')
      .map((item) => [name, wordOf(item)] as const),
  );

/** The same as a query, `/path?a=1&a=2`. */
export function withQuery(path: string, fields: Json): string {
  const query = formPartsOf(fields)
    .map((part) => part.map(encodeURIComponent).join('='))
    .join('&');
  return query === '' ? path : `${path}?${query}`;
}

/** Features that transcriptions of whole files lack. */
export const NO_STREAMS: readonly (readonly [string, Impossible])[] = [
  ['stream', because('this provider sends a transcript only when it is complete', 'false', '"false"')],
  ['include', because('this provider returns no log probabilities', '[]')],
  ['chunking_strategy', because('this provider splits the audio itself', '"auto"')],
];

/** Features that other providers' speech lacks. */
export const NO_EVENTS: readonly (readonly [string, Impossible])[] = [
  ['stream_format', because('this provider sends audio and no events', '"audio"')],
  ['instructions', because('the voices of this provider take no instructions', '""')],
];
