import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ListPage } from '../../common/http/page.js';

/** The envelope of every list. One class per item type: the OpenAPI document names its content. */
export function ListOf<T>(item: Type<T>) {
  class ListDto implements ListPage<T> {
    @ApiProperty({ enum: ['list'] })
    readonly object = 'list';

    @ApiProperty({ example: 1 })
    readonly total: number;

    @ApiProperty({ type: [item] })
    readonly data: readonly T[];
  }
  return ListDto;
}
