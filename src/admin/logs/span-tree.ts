import type { LogRow } from '../../request-log/reading/log-row.js';

/** A request of a trace, with its children. */
export interface TraceSpan {
  readonly row: LogRow;
  readonly children: readonly TraceSpan[];
}

export interface Trace {
  readonly traceId: string;
  readonly roots: readonly TraceSpan[];
  /** It has more requests than are shown. */
  readonly isCut: boolean;
}

/**
 * Arranges requests by their parents. A request without its parent is a root; in a cycle of parents, the oldest request is. Each is in the
 * tree once. If several share a span id, the oldest is the parent.
 */
export function spanTree(rows: readonly LogRow[]): readonly TraceSpan[] {
  const bySpan = new Map<string, LogRow>();
  for (const row of rows) if (row.span_id !== null && !bySpan.has(row.span_id)) bySpan.set(row.span_id, row);
  const childrenOf = new Map<LogRow | null, LogRow[]>();
  for (const row of rows) {
    const parent = isInCircle(row, bySpan) ? null : parentOf(row, bySpan);
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), row]);
  }
  return grow(childrenOf);
}

function parentOf(row: LogRow, bySpan: ReadonlyMap<string, LogRow>): LogRow | null {
  const parent = row.parent_span_id === null ? undefined : bySpan.get(row.parent_span_id);
  return parent && parent !== row ? parent : null;
}

/** Whether following the parents from a row leads back to it, and it is the oldest of the cycle: the map is in that order. */
function isInCircle(row: LogRow, bySpan: ReadonlyMap<string, LogRow>): boolean {
  const seen = new Set<LogRow>([row]);
  let oldest = row;
  for (let at = parentOf(row, bySpan); at !== null; at = parentOf(at, bySpan)) {
    if (at === row) return oldest === row;
    if (seen.has(at)) return false;
    seen.add(at);
    if (at.at < oldest.at || (at.at === oldest.at && at.id < oldest.id)) oldest = at;
  }
  return false;
}

/** From the leaves up, without recursion: a chain may be as long as the trace. */
function grow(childrenOf: ReadonlyMap<LogRow | null, readonly LogRow[]>): readonly TraceSpan[] {
  const spans = new Map<LogRow, { row: LogRow; children: TraceSpan[] }>();
  for (const rows of childrenOf.values()) for (const row of rows) spans.set(row, { row, children: [] });
  for (const [parent, rows] of childrenOf)
    if (parent !== null)
      for (const row of rows) spans.get(parent)?.children.push(spans.get(row) as TraceSpan);
  return (childrenOf.get(null) ?? []).map((row) => spans.get(row) as TraceSpan);
}
