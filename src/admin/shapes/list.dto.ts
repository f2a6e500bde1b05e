import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ListPage } from '../../common/http/page.js';

/** What stands around the things of every list. A class for each kind of thing: the OpenAPI document names what is in it. */
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
