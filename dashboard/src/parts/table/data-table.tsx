import { Button } from '@mantine/core';
import { useWindowEvent } from '@mantine/hooks';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type CSSProperties, memo, type MouseEvent, type ReactNode, useEffect, useRef } from 'react';
import type { LoadState } from '../states/load-state';
import { Loadable } from '../states/states';
import styles from './data-table.module.css';
import { isNarrow } from './is-narrow';
import { useRowKeys } from './use-row-keys';

/** One column of a table whose rows are of one type. */
export interface Column<Row> {
  readonly key: string;
  readonly title: string;
  /** A grid track, such as `minmax(120px, 1fr)`. */
  readonly width: string;
  readonly align?: 'end';
  readonly isSorted?: boolean;
  readonly cell: (row: Row) => ReactNode;
}

export interface DataTableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  /** Number of list rows before these that are not loaded. Their space is kept. */
  readonly firstRow?: number;
  readonly keyOf: (row: Row) => string;
  readonly state: LoadState;
  /** The two lines of a row on a narrow screen. */
  readonly renderCompact: (row: Row) => ReactNode;
  readonly empty: ReactNode;
  readonly selected?: string;
  readonly onOpen?: (row: Row) => void;
  /** Wraps the first cell into a link to what `onOpen` opens, so that the browser can open a row in a new tab. Must be stable. */
  readonly renderLink?: (row: Row, content: ReactNode) => ReactNode;
  /** Called when the last rows become visible. Absent when there are no more. */
  readonly onEnd?: (() => void) | undefined;
  /** Called when the first rows become visible and others precede them. */
  readonly onStart?: (() => void) | undefined;
  /** Called with whether the first row is visible, when the table appears and on each scroll. */
  readonly onTop?: ((isAtTop: boolean) => void) | undefined;
  /** The text of a button that scrolls to the first row; absent without new rows. */
  readonly toTop?: string | undefined;
  readonly rowHeight?: number;
  readonly footer?: ReactNode;
}

const ROW_HEIGHT = 36;
/** Two lines with padding. */
const COMPACT_HEIGHT = 59;
const OVERSCAN = 12;

/** A table of any length: only visible rows are rendered. `j`, `k` and the arrows move, Enter opens. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { state, rows, empty, footer } = props;
  return (
    <section className={styles.table} aria-label={props.label}>
      <div className={styles.body}>
        <Loadable state={state} lines={10}>
          {() => (rows.length === 0 ? empty : <VirtualRows {...props} />)}
        </Loadable>
      </div>
      {footer && (
        // A row count is wrong until the rows are loaded.
        <footer className={styles.footer}>{state.phase === 'ready' && footer}</footer>
      )}
    </section>
  );
}

function VirtualRows<Row>(props: DataTableProps<Row>) {
  const { columns, rows, firstRow = 0, keyOf, selected, label, onTop } = props;
  const rowHeight = heightOf(props.rowHeight);
  const scroll = useRef<HTMLDivElement>(null);
  const count = firstRow + rows.length;
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    overscan: OVERSCAN,
  });
  const keys = useRowKeys({
    rows,
    firstRow,
    keyOf,
    selected,
    onOpen: props.onOpen,
    scrollTo: (at) => virtualizer.scrollToIndex(at),
  });
  useWindowEvent('keydown', (event) => scroll.current && keys.onPageKey(event, scroll.current));
  const items = virtualizer.getVirtualItems();
  useEdge((items.at(-1)?.index ?? 0) >= count - OVERSCAN, count, props.onEnd);
  useEdge(firstRow > 0 && (items[0]?.index ?? 0) <= firstRow, firstRow, props.onStart);
  useEffect(() => virtualizer.measure(), [rowHeight, virtualizer]);
  useEffect(() => onTop?.((scroll.current?.scrollTop ?? 0) < rowHeight), [onTop, rowHeight]);
  return (
    <>
      <div
        ref={scroll}
        className={styles.scroll}
        role="grid"
        aria-label={label}
        aria-rowcount={count + 1}
        onKeyDown={keys.onKeyDown}
        onFocus={({ target }) => {
          const at = rowAt(target);
          if (at !== null) keys.reach(at);
        }}
        onClick={(event) => {
          const row = rows[(clickedRow(event) ?? NaN) - firstRow];
          if (row !== undefined && !openedInNewTab(event)) props.onOpen?.(row);
        }}
        onAuxClick={(event) => {
          if (event.button === MIDDLE_BUTTON && clickedRow(event) !== null) openedInNewTab(event);
        }}
        onScroll={({ currentTarget }) => onTop?.(currentTarget.scrollTop < rowHeight)}
        style={tracks(columns, rowHeight)}
      >
        <HeadRow columns={columns} />
        <div className={styles.rows} role="rowgroup" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const row = rows[index - firstRow];
            return (
              row !== undefined && (
                <TableRow
                  key={keyOf(row)}
                  row={row}
                  index={index}
                  start={start}
                  isSelected={keyOf(row) === selected}
                  isReached={keys.reached === index}
                  opens={props.onOpen !== undefined}
                  columns={columns}
                  renderCompact={props.renderCompact}
                  renderLink={props.renderLink}
                />
              )
            );
          })}
        </div>
      </div>
      {props.toTop !== undefined && (
        <Button className={styles.toTop} onClick={() => virtualizer.scrollToIndex(0)}>
          {props.toTop}
        </Button>
      )}
    </>
  );
}

/** At least two lines' height where rows have two. */
const heightOf = (wanted = ROW_HEIGHT): number => (isNarrow() ? Math.max(wanted, COMPACT_HEIGHT) : wanted);

const tracks = (columns: readonly { readonly width: string }[], rowHeight: number): CSSProperties =>
  ({
    '--tracks': columns.map(({ width }) => width).join(' '),
    '--row-height': `${rowHeight}px`,
  }) as CSSProperties;

/** Reports that an end is visible, once per extent of the list. */
function useEdge(isVisible: boolean, extent: number, onEdge: (() => void) | undefined): void {
  const reported = useRef<number | null>(null);
  useEffect(() => {
    if (!isVisible) reported.current = null;
    if (!isVisible || !onEdge || reported.current === extent) return;
    reported.current = extent;
    onEdge();
  }, [isVisible, extent, onEdge]);
}

function HeadRow<Row>({ columns }: { columns: readonly Column<Row>[] }) {
  return (
    <div className={styles.head} role="row" aria-rowindex={1}>
      {columns.map(({ key, title, align, isSorted }) => (
        <span
          key={key}
          role="columnheader"
          data-align={align}
          aria-sort={isSorted ? 'descending' : undefined}
        >
          {title}
          {isSorted && <span aria-hidden> ↓</span>}
        </span>
      ))}
    </div>
  );
}

/** The number of the row that contains an element; null outside rows. */
function rowAt(target: EventTarget): number | null {
  const at = (target as Element).closest('[data-row]')?.getAttribute('data-row');
  return at ? Number(at) : null;
}

/** The row that a click opens; null for clicks on its menus and buttons, and while text is selected. */
function clickedRow({ target }: MouseEvent): number | null {
  const isOwn = (target as Element).closest('button, a, [role=menu], [role=menuitem]');
  return isOwn || getSelection()?.toString() ? null : rowAt(target);
}

const MIDDLE_BUTTON = 1;

/** Opens the link of a row in a new tab, if the click asks for one. */
function openedInNewTab({ target, button, ctrlKey, metaKey }: MouseEvent): boolean {
  const link = (target as Element)
    .closest('[data-row]')
    ?.querySelector<HTMLAnchorElement>('a[data-row-link]');
  if (!link || !(button === MIDDLE_BUTTON || ctrlKey || metaKey)) return false;
  open(link.href, '_blank', 'noopener');
  return true;
}

interface TableRowProps<Row> extends Pick<DataTableProps<Row>, 'columns' | 'renderCompact'> {
  readonly renderLink: DataTableProps<Row>['renderLink'];
  readonly row: Row;
  readonly index: number;
  readonly start: number;
  readonly isSelected: boolean;
  readonly isReached: boolean;
  readonly opens: boolean;
}

/** The grid handles clicks and focus, so that a visible row is not rendered again when handlers change. */
const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
  const { row, index, start, isSelected, isReached, opens, columns, renderCompact, renderLink } = props;
  return (
    <div
      className={styles.row}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      tabIndex={isReached ? 0 : -1}
      data-row={index}
      data-opens={opens || undefined}
      style={{ transform: `translateY(${start}px)` }}
    >
      {columns.map(({ key, align, cell }, at) => (
        <span key={key} role="gridcell" className={styles.cell} data-align={align}>
          {at === 0 && renderLink ? renderLink(row, cell(row)) : cell(row)}
        </span>
      ))}
      <span role="gridcell" className={styles.compact}>
        {renderCompact(row)}
      </span>
    </div>
  );
}) as <Row>(props: TableRowProps<Row>) => ReactNode;
