import { type KeyboardEvent, useState } from 'react';

interface RowKeysOptions<Row> {
  readonly rows: readonly Row[];
  /** The index of the first of them. */
  readonly firstRow: number;
  readonly keyOf: (row: Row) => string;
  readonly selected: string | undefined;
  readonly onOpen: ((row: Row) => void) | undefined;
  readonly scrollTo: (index: number) => void;
}

const STEPS: Readonly<Record<string, number>> = {
  j: 1,
  ArrowDown: 1,
  k: -1,
  ArrowUp: -1,
  PageDown: 20,
  PageUp: -20,
};

const ENTERING: ReadonlySet<string> = new Set(['j', 'k']);

type Modifiers = Pick<KeyboardEvent, 'metaKey' | 'ctrlKey' | 'altKey'>;
const hasModifier = (event: Modifiers): boolean => event.metaKey || event.ctrlKey || event.altKey;

/** Keyboard navigation through the rows of a grid. One row is in the tab order: the one focused last. */
export function useRowKeys<Row>(options: RowKeysOptions<Row>) {
  const { rows, firstRow, keyOf, selected, onOpen, scrollTo } = options;
  const [moved, setMoved] = useState<number | null>(null);
  const selectedAt = selected === undefined ? -1 : rows.findIndex((row) => keyOf(row) === selected);
  const last = firstRow + rows.length - 1;
  const within = (at: number): number => Math.max(firstRow, Math.min(last, at));
  const reached = within(moved ?? firstRow + selectedAt);

  const move = (grid: HTMLElement, to: number): void => {
    const next = within(to);
    setMoved(next);
    scrollTo(next);
    // The row may have to be rendered first.
    requestAnimationFrame(() =>
      grid.querySelector<HTMLElement>(`[data-row="${next}"]`)?.focus({ preventScroll: true }),
    );
  };

  const onKeyDown = (event: KeyboardEvent<HTMLElement>): void => {
    const target = event.target as HTMLElement;
    if (!target.hasAttribute('data-row') || hasModifier(event)) return;
    const row = rows[reached - firstRow];
    const step = STEPS[event.key];
    if (step !== undefined) move(event.currentTarget, reached + step);
    else if (event.key === 'Home') move(event.currentTarget, firstRow);
    else if (event.key === 'End') move(event.currentTarget, last);
    else if (event.key === 'Enter' && row !== undefined) onOpen?.(row);
    else return;
    event.preventDefault();
  };

  /** `j` and `k` enter the rows where nothing has the focus, as on a page that was just opened. */
  const onPageKey = (event: globalThis.KeyboardEvent, grid: HTMLElement): void => {
    if (event.target !== document.body || hasModifier(event) || !ENTERING.has(event.key)) return;
    move(grid, reached + (moved === null ? 0 : (STEPS[event.key] ?? 0)));
    event.preventDefault();
  };

  return { reached, reach: setMoved, onKeyDown, onPageKey };
}
