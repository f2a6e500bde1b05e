import 'reflect-metadata';
import { plainToInstance, Transform, Type } from 'class-transformer';
import { ArrayMaxSize, ArrayMinSize, IsArray, IsIn, IsInt, IsString, ValidateNested } from 'class-validator';
import { describe, expect, it } from 'vitest';
import { type AppError, errorBody } from '../../common/errors/app-error.js';
import { createValidationPipe } from './validation.js';
import {
  HasNoEffectYet,
  IfGiven,
  IsFutureDateTime,
  IsName,
  IsNote,
  IsReason,
  IsSlug,
  OrNull,
} from '../../common/http/validators.js';

class Inner {
  @IsString()
  readonly text: string;
}

class Dto {
  @IsName()
  readonly name: string;

  @IfGiven()
  @IsInt()
  readonly count?: number;

  @IfGiven()
  @IsSlug()
  readonly slug?: string;

  @OrNull()
  @IsFutureDateTime()
  readonly ends_at?: string | null;

  @OrNull()
  @IsNote()
  readonly note?: string | null;

  @IfGiven()
  @IsReason()
  readonly reason?: string;

  @IfGiven()
  @ValidateNested()
  @Type(() => Inner)
  readonly inner?: Inner;

  @IfGiven()
  @IsArray()
  @ArrayMinSize(1)
  @ArrayMaxSize(5)
  @IsString({ each: true })
  readonly texts?: string[];

  @IfGiven()
  @IsIn(['id', 'cost'], { each: true })
  readonly fields?: string[];

  @IfGiven()
  @IsArray()
  @Transform(({ value }: { readonly value: unknown }) => [value])
  readonly list?: unknown;

  @IfGiven()
  @IsArray()
  @ValidateNested({ each: true })
  @Transform(({ value }: { readonly value: unknown }) =>
    [value].flat().map((each) => plainToInstance(Inner, each)),
  )
  readonly items?: Inner[];

  @HasNoEffectYet('it has no effect yet')
  readonly limit?: unknown;
}

const check = (body: unknown) =>
  createValidationPipe().transform(body, { type: 'body', metatype: Dto }) as Promise<Dto>;

describe('the validation of bodies', () => {
  it('gives the DTO when all is well', async () => {
    const dto = await check({
      name: 'A',
      count: 1,
      slug: 'a-1',
      ends_at: '2040-01-31T12:00Z',
      inner: { text: 'x' },
    });

    expect(dto).toBeInstanceOf(Dto);
    expect(dto).toMatchObject({ name: 'A', count: 1 });
  });

  it.each([
    [{ name: 'A', nonsense: 1 }, 'There is no field "nonsense" here.'],
    [{ name: 'A', inner: { text: 'x', more: 1 } }, 'There is no field "inner.more" here.'],
    [{ name: 'A', toString: 1 }, '"toString" is invalid'],
    [{ name: 'A', inner: { text: 'x', valueOf: 1 } }, '"inner.valueOf" is invalid'],
    [{}, 'The field "name" is missing.'],
    [{ name: 'A', texts: 'logs.list' }, 'The field "texts" is invalid: it must be a list of strings.'],
    [{ name: 'A', texts: [7] }, 'The field "texts" is invalid: each entry must be a string.'],
    [{ name: 'A', fields: ['costs'] }, 'The field "fields" is invalid: each entry must be one of id, cost.'],
    [{ name: 'A', texts: [] }, 'The field "texts" is invalid: it must contain at least 1 elements.'],
    [{ name: 'A', inner: { text: 7 } }, '"inner.text"'],
    [{ name: 'A', inner: 'text' }, '"inner"'],
    [{ name: 'A', count: '1' }, '"count"'],
    [{ name: 'A', count: null }, '"count"'],
    [{ name: 'A', slug: 'a b' }, '"slug"'],
    [{ name: 'A', ends_at: '2040-13-31T12:00Z' }, '"ends_at"'],
    [{ name: 'A', ends_at: '2040-01-31' }, '"ends_at"'],
    [{ name: 'A', limit: 1 }, 'it has no effect yet'],
    [{ name: 'A', ['x'.repeat(1000)]: 1 }, `"${'x'.repeat(64)}…"`],
  ])('refuses %j with a sentence about %s', async (body, sentence) => {
    await expect(check(body)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(check(body)).rejects.toThrow(sentence);
  });

  it.each([
    [{ name: 'A', items: [{ text: 'x' }, { text: 7 }] }, 'items[1].text', 'is invalid: it must be a string.'],
    [{ name: 'A', items: { text: 7 } }, 'items.text', 'is invalid: it must be a string.'],
    [
      { name: 'A', items: [{ text: 'x', valueOf: 1 }] },
      'items[0].valueOf',
      'is invalid: its name is that of',
    ],
    [{ name: 'A', items: [{}] }, 'items[0].text', 'is missing.'],
    [{ name: '' }, 'name', 'is empty.'],
  ])('names the place in %j as it was sent, in the message and in param', async (body, place, words) => {
    const error = await check(body).then(
      () => expect.fail('The body was accepted.'),
      (thrown: unknown) => thrown as AppError,
    );
    expect(error.message).toContain(`The field "${place}" ${words}`);
    expect(errorBody(error, 'id').error.param).toBe(place);
  });

  it('passes a field on as the DTO transforms it', async () => {
    expect(await check({ name: 'A', list: { text: 'x' } })).toMatchObject({ list: [{ text: 'x' }] });
    await expect(check({ name: 'A', list: { text: 'x', toString: 1 } })).rejects.toThrow('toString');
  });

  it('does not show values', async () => {
    await expect(check({ name: 'A', count: 'sk-canary' })).rejects.not.toThrow(/canary/);
  });

  it.each(['2030-02-29T00:00:00Z', '2030-02-31T12:00:00+14:00', '2030-04-31T12:00Z', '2030-13-01T00:00:00Z'])(
    'refuses %s, a day that there is not, instead of taking another',
    async (ends_at) => {
      await expect(check({ name: 'A', ends_at })).rejects.toThrow('ends_at');
    },
  );

  it.each(['2032-02-29T00:00:00Z', '2030-12-31T23:59:59.999999-11:00', '2030-01-31T12:00+05:30'])(
    'takes the moment %s',
    async (ends_at) => {
      expect(await check({ name: 'A', ends_at })).toMatchObject({ ends_at });
    },
  );

  it('takes an empty note, as a form sends it, and no empty reason', async () => {
    expect(await check({ name: 'A', note: '' })).toMatchObject({ note: '' });
    await expect(check({ name: 'A', note: 'x'.repeat(2001) })).rejects.toThrow('at most 2000');
    await expect(check({ name: 'A', reason: '' })).rejects.toThrow('"reason" is empty');
    await expect(check({ name: 'A', reason: ' '.repeat(2001) })).rejects.toThrow('1 to 2000');
  });

  it('takes null for "nothing" where that means something', async () => {
    expect(await check({ name: 'A', ends_at: null, limit: null })).toMatchObject({ ends_at: null });
  });
});
