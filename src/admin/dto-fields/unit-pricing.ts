import type { ImagePrice, UnitPrices } from '../../common/contracts/price.js';
import { priceAmount, amountSchema, checkNames, objectAt, refusePrice, under } from './price-fields.js';

/** A cent is ten million nano-dollars. */
const CENT_DIGITS = 7;

/** The API's name of each unit, and the power of ten of units that a stored price covers. */
const UNITS = {
  request: ['thousandRequests', 3, 'a request'],
  web_search: ['thousandWebSearches', 3, 'a web search'],
  file_search: ['thousandFileSearches', 3, 'a file search'],
  search_unit: ['thousandSearchUnits', 3, 'a search unit, by which rerankers charge'],
  document_page: ['thousandDocumentPages', 3, 'a page read by OCR'],
  annotated_page: ['thousandAnnotatedPages', 3, 'a page annotated by OCR'],
  citation_token: ['millionCitationTokens', 6, 'a citation token'],
  input_character: ['millionInputCharacters', 6, 'an input character of speech generation'],
  audio_input_hour: ['audioInputHour', 0, 'an hour of audio input'],
  audio_output_hour: ['audioOutputHour', 0, 'an hour of generated audio'],
  video_output_second: ['videoOutputSecond', 0, 'a second of generated video'],
} as const satisfies Record<string, readonly [Exclude<keyof UnitPrices, 'images'>, number, string]>;

type Unit = keyof typeof UNITS;
interface Amount {
  readonly price: number;
}

/** Unit prices in the API's format. */
export interface UnitPricing {
  readonly additional_units?: Readonly<Partial<Record<Unit, Amount>>>;
  /** By quality, then by size; `default` matches any. */
  readonly image?: Readonly<Record<string, Readonly<Record<string, Amount>>>>;
}

const NAMES = Object.keys(UNITS) as Unit[];
const ANY = 'default';
const MOST_IMAGES = 100;
const LONGEST_NAME = 64;

export const UNIT_PRICING_NAMES = ['additional_units', 'image'] as const;

/** For the OpenAPI document. */
export const UNIT_PRICING_SCHEMA = {
  additional_units: {
    type: 'object' as const,
    description: 'US cents per unit.',
    properties: Object.fromEntries(NAMES.map((name) => [name, amountSchema(`Price of ${UNITS[name][2]}.`)])),
  },
  image: {
    type: 'object' as const,
    description:
      'US cents per generated image, by quality and size; `default` matches every quality or size. ' +
      'The most specific price applies, and a size before a quality.',
    additionalProperties: { type: 'object' as const, additionalProperties: amountSchema() },
    example: { hd: { '1024x1024': { price: 8 } }, default: { default: { price: 4 } } },
  },
};

/** Null if no unit has a price. Refuses with `invalid_request`, naming the field. */
export function unitPricesIn(given: Readonly<Record<string, unknown>>, path: string): UnitPrices | null {
  const { additional_units: units, image } = given;
  const plain = units === undefined ? {} : plainIn(units, under(path, 'additional_units'));
  const images = image === undefined ? [] : imagesIn(image, under(path, 'image'));
  const all = { ...plain, ...(images.length > 0 && { images }) };
  return Object.keys(all).length > 0 ? all : null;
}

function plainIn(given: unknown, path: string): UnitPrices {
  const units = objectAt(given, path);
  checkNames(units, NAMES, path);
  const priced = NAMES.filter((name) => units[name] !== undefined).map((name) => {
    const [unit, digits] = UNITS[name];
    return [unit, priceAmount(units[name], under(path, name), CENT_DIGITS + digits)] as const;
  });
  return Object.fromEntries(priced);
}

function imagesIn(given: unknown, path: string): readonly ImagePrice[] {
  const images = Object.entries(objectAt(given, path)).flatMap(([quality, sizes]) => {
    const below = under(path, nameAt(quality, path));
    return Object.entries(objectAt(sizes, below)).map(([size, amount]) => ({
      size: anyOr(size),
      quality: anyOr(quality),
      amount: priceAmount(amount, under(below, nameAt(size, below)), CENT_DIGITS),
    }));
  });
  return images.length > MOST_IMAGES
    ? refusePrice(path, `it may have at most ${MOST_IMAGES} prices`)
    : images;
}

const nameAt = (name: string, path: string): string =>
  name !== '' && name.length <= LONGEST_NAME && !name.includes('\0')
    ? name
    : refusePrice(path, `a quality or size has a name of 1 to ${LONGEST_NAME} characters`);

const anyOr = (name: string): string | null => (name === ANY ? null : name);

/** Unit prices in the API's format. */
export function unitPricingOf({ images, ...units }: UnitPrices = {}): UnitPricing {
  const plain = NAMES.flatMap((name) => {
    const [unit, digits] = UNITS[name];
    const nano = units[unit];
    return nano === undefined ? [] : [[name, { price: nano / 10 ** (CENT_DIGITS + digits) }] as const];
  });
  return {
    ...(plain.length > 0 && { additional_units: Object.fromEntries(plain) }),
    ...(images && { image: imagePricingOf(images) }),
  };
}

function imagePricingOf(images: readonly ImagePrice[]): UnitPricing['image'] {
  const byQuality: Record<string, Record<string, Amount>> = {};
  for (const { size, quality, amount } of images)
    (byQuality[quality ?? ANY] ??= {})[size ?? ANY] = { price: amount / 10 ** CENT_DIGITS };
  return byQuality;
}
