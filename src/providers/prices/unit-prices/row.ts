import type { UnitPrices } from '../price.js';

/** Units with one price each. */
export type PlainUnit = Exclude<keyof UnitPrices, 'images'>;

/**
 * A list price that the price package lacks. It is added to the package's price for the model, if any. A model without a row has no known
 * price for the unit; never add an amount that the provider's page does not state.
 */
export type UnitPriceRow = PlainUnitPriceRow | ImagePriceRow;

interface PricedRow {
  /** Id in the catalogue. */
  readonly provider: string;
  /** The whole name, or a prefix of names that ends with `*`. */
  readonly model: string;
  /** Dollars, as an exact decimal. */
  readonly amount: string;
  /** The provider's own price page. */
  readonly source: string;
  /** Day on which the amount was valid: `2026-11-25`. */
  readonly checked: string;
}

export interface PlainUnitPriceRow extends PricedRow {
  readonly unit: PlainUnit;
}

/** The part of a row that its page determines. */
export type PricePage = Pick<PricedRow, 'provider' | 'source' | 'checked'>;

/** Rows of one page and unit: amounts by model. */
export const each = (
  page: PricePage,
  unit: PlainUnit,
  amounts: Readonly<Record<string, string>>,
): readonly PlainUnitPriceRow[] =>
  Object.entries(amounts).map(([model, amount]) => ({ ...page, model, unit, amount }));

/**
 * Rows with this day were read in the open data of LiteLLM 1.110.2, released on it, which names the provider's page. They agree with
 * https://github.com/Portkey-AI/models of 2026-08-21 if that has the price.
 */
export const LITELLM = '2026-11-20';

/** Null matches every size, or every quality. */
export interface ImagePriceRow extends PricedRow {
  readonly unit: 'images';
  readonly size: string | null;
  readonly quality: string | null;
}
