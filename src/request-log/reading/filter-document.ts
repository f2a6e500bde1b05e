import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { type QueryCondition, conditionOf, isLogFilter, LOG_FILTERS } from './log-filters.js';

/** Filters as a JSON object: texts, numbers, booleans, and an object for the metadata. */
export type FilterDocument = Readonly<Record<string, unknown>>;

/** The conditions for the filters. Rejects unknown names and invalid values. */
export function conditionsIn(filters: FilterDocument): QueryCondition[] {
  return Object.entries(filters).flatMap(([name, value]) => {
    if (value === null || value === '') return [];
    if (!isLogFilter(name)) throw new AppError('invalid_request', { detail: noFilter(name.slice(0, 64)) });
    return [conditionOf(name, typeof value === 'string' ? value : JSON.stringify(value))];
  });
}

const noFilter = (name: string): string =>
  `There is no filter "${name}"${didYouMean(name, Object.keys(LOG_FILTERS))}.`;

/** The latest arrival time that the filters allow; null when unbounded. */
export function newestOf(filters: FilterDocument): Date | null {
  const bounds = momentsIn(filters, 'time_of_generation_max', 'created_at_max');
  return bounds.length === 0 ? null : new Date(Math.min(...bounds));
}

/** The earliest arrival time that the filters allow; null when unbounded. */
export function oldestOf(filters: FilterDocument): Date | null {
  const bounds = momentsIn(filters, 'time_of_generation_min', 'created_at_min');
  return bounds.length === 0 ? null : new Date(Math.max(...bounds));
}

const momentsIn = (filters: FilterDocument, ...names: readonly string[]): number[] =>
  names
    .map((name) => filters[name])
    .filter((text) => typeof text === 'string' && text !== '')
    .map((text) => Date.parse(String(text)));
