import { ApiProperty } from '@nestjs/swagger';
import { ApiColumn } from './log-columns.dto.js';
import { LogDto } from './log.dto.js';
import type { TraceSpan, Trace } from './span-tree.js';
import { QueryDto, Alias } from '../http/query.dto.js';
import { QueryWorkspace } from '../http/query-fields.js';
import { ApiObject } from '../dto-fields/fields.js';

/** A deeper tree is shown as a list: serializing it would exhaust the stack. */
const DEEPEST = 100;

export class ReadTraceQuery extends QueryDto {
  @QueryWorkspace()
  @Alias('workspace_slug')
  readonly workspace_id?: string;
}

export class SpanDto extends LogDto {
  @ApiProperty({ description: 'Spans below this one.', type: () => [SpanDto] })
  readonly children: readonly SpanDto[];

  static of({ row, children }: TraceSpan, depth = 1): SpanDto {
    const shown = depth < DEEPEST ? children.map((child) => SpanDto.of(child, depth + 1)) : flat(children);
    return { ...LogDto.from(row), children: shown };
  }
}

function flat(spans: readonly TraceSpan[]): SpanDto[] {
  const rest = [...spans];
  const shown: SpanDto[] = [];
  for (let span = rest.shift(); span; span = rest.shift()) {
    shown.push(SpanDto.of({ row: span.row, children: [] }));
    rest.push(...span.children);
  }
  return shown;
}

/** All requests of a trace. */
export class TraceDto {
  @ApiObject('trace') readonly object: 'trace';
  @ApiColumn('trace_id') readonly trace_id: string;
  @ApiProperty({ description: 'Spans without a parent, each with the spans below it.', type: [SpanDto] })
  readonly spans: readonly SpanDto[];
  @ApiProperty({ description: 'Whether the trace has more than the 1,000 requests that are shown.' })
  readonly has_more: boolean;

  static from({ traceId, roots, isCut }: Trace): TraceDto {
    const spans = roots.map((root) => SpanDto.of(root));
    return { object: 'trace', trace_id: traceId, spans, has_more: isCut };
  }
}
