/** A range of a list. */
export interface Page {
  readonly skip: number;
  readonly take: number;
}

/** A page as its query names it: its number from 0, and its size. */
export interface PageNumbers {
  readonly current_page: number;
  readonly page_size: number;
}

/** The total of a list if a page that is not full reveals it; otherwise it must be counted. */
export function totalFrom(count: number, { skip, take }: Page): number | null {
  return count < take && (count > 0 || skip === 0) ? skip + count : null;
}

/** A list in the compatible API's format. `total` counts the items of all pages. */
export interface ListPage<T> {
  readonly object: 'list';
  readonly total: number;
  readonly data: readonly T[];
}

export const LARGEST_PAGE = 1_000_000;

/** The range that a list's query names. */
export const pageOf = ({ current_page, page_size }: PageNumbers): Page => ({
  skip: current_page * page_size,
  take: page_size,
});
