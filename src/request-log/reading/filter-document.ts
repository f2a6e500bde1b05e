import { AppError } from '../../common/errors/app-error.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { type QueryCondition, conditionOf, isLogFilter, LOG_FILTERS } from './log-filters.js';

/** Filters as a JSON object has them: texts, numbers, truth values, and an object for the metadata. */
export type FilterDocument = Readonly<Record<string, unknown>>;

/** What the filters stand for. Refuses a name that is none, and a value that its filter cannot mean. */
export function conditionsIn(filters: FilterDocument): QueryCondition[] {
  return Object.entries(filters).flatMap(([name, value]) => {
    if (value === null || value === '') return [];
    if (!isLogFilter(name)) throw new AppError('invalid_request', { detail: noFilter(name.slice(0, 64)) });
    return [conditionOf(name, typeof value === 'string' ? value : JSON.stringify(value))];
  });
}

const noFilter = (name: string): string =>
  `There is no filter "${name}"${didYouMean(name, Object.keys(LOG_FILTERS))}.`;

/** The latest time of arrival that the filters let in; null where they do not say. */
export function newestOf(filters: FilterDocument): Date | null {
  const bounds = momentsIn(filters, 'time_of_generation_max', 'created_at_max');
  return bounds.length === 0 ? null : new Date(Math.min(...bounds));
}

/** The earliest. */
export function oldestOf(filters: FilterDocument): Date | null {
  const bounds = momentsIn(filters, 'time_of_generation_min', 'created_at_min');
  return bounds.length === 0 ? null : new Date(Math.max(...bounds));
}

const momentsIn = (filters: FilterDocument, ...names: readonly string[]): number[] =>
  names
    .map((name) => filters[name])
    .filter((text) => typeof text === 'string' && text !== '')
    .map((text) => Date.parse(String(text)));
