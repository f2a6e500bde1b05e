import { describe, expect, it } from 'vitest';
import type { LogRow } from '../../request-log/reading/log-row.js';
import { type TraceSpan, spanTree } from './span-tree.js';

const row = (id: string, span_id: string | null, parent_span_id: string | null): LogRow =>
  ({ id, at: id, span_id, parent_span_id }) as LogRow;
const shown = (spans: readonly TraceSpan[]): unknown[] =>
  spans.map(({ row: { id }, children }) => (children.length > 0 ? [id, shown(children)] : id));

describe('spanTree', () => {
  it('hangs requests below those that they name as their parents, in the order of time', () => {
    const rows = [
      row('1', 'a', null),
      row('2', 'b', 'a'),
      row('3', 'c', 'b'),
      row('4', null, 'a'),
      row('5', 'e', null),
    ];
    expect(shown(spanTree(rows))).toEqual([['1', [['2', ['3']], '4']], '5']);
  });

  it('makes a root of what names an absent parent, or itself', () => {
    expect(shown(spanTree([row('1', 'a', 'gone'), row('2', 'b', 'b')]))).toEqual(['1', '2']);
  });

  it('opens a circle at its oldest request, and loses nothing', () => {
    const rows = [row('1', 'a', 'c'), row('2', 'b', 'a'), row('3', 'c', 'b'), row('4', 'd', 'c')];
    expect(shown(spanTree(rows))).toEqual([['1', [['2', [['3', ['4']]]]]]]);
  });

  it('takes the oldest of those that share a span id as the parent', () => {
    expect(shown(spanTree([row('1', 'a', null), row('2', 'a', null), row('3', 'b', 'a')]))).toEqual([
      ['1', ['3']],
      '2',
    ]);
  });

  it('builds a chain as long as a trace can be', () => {
    const rows = Array.from({ length: 1_000 }, (_, at) =>
      row(String(at).padStart(4, '0'), `s${at}`, `s${at - 1}`),
    );
    let [span] = spanTree(rows);
    let depth = 0;
    for (; span; [span] = span.children) depth += 1;
    expect(depth).toBe(1_000);
  });
});
