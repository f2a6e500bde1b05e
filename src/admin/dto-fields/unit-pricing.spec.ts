import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { isPrice } from '../../providers/prices/price.js';
import { PRICING_CONFIG_SCHEMA, priceOf, pricingConfigOf } from './model-pricing.js';

const read = (pay_as_you_go: object) => priceOf({ pay_as_you_go });

describe('own prices of units', () => {
  it('are read from US cents into exact nano-dollars', () => {
    const price = read({
      additional_units: {
        input_character: { price: 0.0015 },
        search_unit: { price: 0.2 },
        audio_input_hour: { price: 36 },
        video_output_second: { price: 10 },
      },
    });

    expect(price).toMatchObject({
      isByUnitOnly: true,
      units: {
        millionInputCharacters: 15_000_000_000,
        thousandSearchUnits: 2_000_000_000,
        audioInputHour: 360_000_000,
        videoOutputSecond: 100_000_000,
      },
    });
    expect(isPrice(price)).toBe(true);
  });

  it('of images are read by quality and size, and "default" is any', () => {
    const price = read({ image: { hd: { '1024x1024': { price: 8 } }, default: { default: { price: 4 } } } });

    expect(price.units).toEqual({
      images: [
        { size: '1024x1024', quality: 'hd', amount: 80_000_000 },
        { size: null, quality: null, amount: 40_000_000 },
      ],
    });
  });

  it('are allowed beside token prices, which are then required in full', () => {
    const units = { additional_units: { web_search: { price: 1 } } };

    expect(read({ request_token: { price: 1 }, response_token: { price: 2 }, ...units })).toMatchObject({
      input: 1e13,
      units: { thousandWebSearches: 10_000_000_000 },
    });
    expect(() => read({ request_token: { price: 1 }, ...units })).toThrow('response_token');
  });

  it.each([
    ['an unknown unit', { additional_units: { seconds: { price: 1 } } }, 'additional_units.seconds'],
    ['a negative amount', { additional_units: { request: { price: -1 } } }, 'additional_units.request.price'],
    ['an image without a size', { image: { hd: { price: 1 } } }, 'image.hd.price'],
    ['an image with an empty size', { image: { hd: { '': { price: 1 } } } }, 'image.hd'],
    ['units that price nothing', { additional_units: {} }, 'request_token'],
  ])('are refused for %s', (_, given, field) => {
    expect(() => read(given)).toThrow(field);
  });

  it('are shown as they were written', () => {
    const pay_as_you_go = {
      additional_units: { document_page: { price: 0.4 }, audio_output_hour: { price: 90 } },
      image: { standard: { '1024x1024': { price: 4 }, default: { price: 8 } } },
    };

    expect(pricingConfigOf(read(pay_as_you_go))).toEqual({ type: 'static', pay_as_you_go });
  });
});

describe('the schema of a price in the OpenAPI document', () => {
  const allows = new Ajv({ strict: false }).compile(PRICING_CONFIG_SCHEMA.properties.pay_as_you_go);
  const accepts = (price: object): boolean => {
    try {
      return Boolean(read(price));
    } catch {
      return false;
    }
  };
  const cents = { price: 1 };

  it.each([
    [{}, false],
    [{ request_token: cents }, false],
    [{ response_token: cents, reasoning_token: cents }, false],
    [{ request_token: {}, response_token: {} }, false],
    [{ request_token: cents, response_token: cents }, true],
    [{ additional_units: { web_search: cents } }, true],
    [{ image: { default: { default: cents } } }, true],
  ])('says of %j what the service says: %s', (price, isRight) => {
    expect([allows(price), accepts(price)]).toEqual([isRight, isRight]);
  });
});
