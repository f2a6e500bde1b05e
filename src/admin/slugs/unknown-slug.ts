import type { FindOptionsWhere, Repository } from 'typeorm';
import { AppError } from '../../common/errors/app-error.js';
import { isSlug } from '../../common/http/validators.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { didYouMean } from '../../common/text/nearest-names.js';

const COMPARED_MAX = 1_000;

interface SlugRow {
  readonly slug: string;
}

/**
 * The error for a name that nothing within `reach` has, with the nearest slugs within it. It depends on nothing else, so it does not reveal
 * what other tenants have.
 */
export async function unknownSlug<Row extends SlugRow>(
  { resource, named }: { readonly resource: string; readonly named: string },
  rows: Repository<Row>,
  reach: FindOptionsWhere<Row>,
): Promise<AppError> {
  if (isUuid(named) || !isSlug(named)) return new AppError('not_found', { resource });
  const near = await rows
    .createQueryBuilder('row')
    .select('row.slug', 'slug')
    .where(reach)
    .limit(COMPARED_MAX)
    .getRawMany<SlugRow>();
  const slugs = near.map(({ slug }) => slug);
  return new AppError('not_found', { resource: `${resource}${didYouMean(named, slugs)}` });
}
