import { Injectable, type PipeTransform, type Type } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { createValidationPipe } from '../../common/http/validation.js';

const MOST = 100;

/** A body that is one object or a list of them, as a list; each is checked against the DTO. */
@Injectable()
export class OneOrMany<T> implements PipeTransform<unknown, Promise<readonly T[]>> {
  readonly #each = createValidationPipe();

  constructor(private readonly dto: Type<T>) {}

  async transform(body: unknown): Promise<readonly T[]> {
    const given: readonly unknown[] = Array.isArray(body) ? body : [body];
    if (given.length === 0 || given.length > MOST)
      throw new AppError('invalid_request', { detail: `The list must have 1 to ${MOST} entries.` });
    const checked = given.map((each) => {
      if (typeof each !== 'object' || each === null)
        throw new AppError('invalid_request', {
          detail: 'The body must be an object, or a list of objects.',
        });
      return this.#each.transform(each, { type: 'body', metatype: this.dto }) as Promise<T>;
    });
    return Promise.all(checked);
  }
}
