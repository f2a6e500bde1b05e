import { scaled } from '../../providers/prices/decimal.js';
import { invalidField, missingField, unknownField } from '../../common/errors/field-errors.js';

type PriceFields = Readonly<Record<string, unknown>>;

/** An amount in the OpenAPI document. */
export const amountSchema = (description?: string) => ({
  ...(description !== undefined && { description }),
  type: 'object' as const,
  properties: {
    price: { description: 'Price in US cents, zero or more.', type: 'number' as const, minimum: 0 },
  },
  required: ['price'],
});

/** Reads `{ "price": <US cents> }` as nano-dollars times a power of ten: `digits` more than a cent. */
export function priceAmount(given: unknown, path: string, digits: number): number {
  const holder = objectAt(given, path);
  checkNames(holder, ['price'], path);
  return (
    scaled(holder.price, digits) ?? refusePrice(under(path, 'price'), 'it must be US cents, zero or more')
  );
}

export function objectAt(given: unknown, path: string): PriceFields {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given as PriceFields;
  if (given === undefined) throw missingField(path);
  return refusePrice(path, 'it must be an object');
}

export function checkNames(given: object, known: readonly string[], path: string): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown !== undefined) throw unknownField(under(path, unknown.slice(0, 64)));
}

export const under = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`);

/** Throws `invalid_request`, naming the field. */
export function refusePrice(path: string, rule: string): never {
  throw invalidField(path, rule);
}
