import type { Type } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import type { ListPage } from '../../common/http/page.js';
import { ApiObject } from './fields.js';

/** The envelope of every list. One class per item type: the OpenAPI document names its content. */
export function ListOf<T>(item: Type<T>, total = 'Number of matching items on all pages.') {
  class ListDto implements ListPage<T> {
    @ApiObject('list')
    readonly object = 'list';

    @ApiProperty({ description: total, example: 1 })
    readonly total: number;

    @ApiProperty({ description: 'The items of this page.', type: [item] })
    readonly data: readonly T[];
  }
  return ListDto;
}
