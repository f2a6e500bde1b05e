import { flagOf, type ListQuery } from '../../common/http/page.js';
import { QueryParameter } from '../openapi/decorators.js';

/** For an operation that saves a config. It must check `isRehearsal`, so that a dry run changes nothing. */
export const MayBeRehearsed = (): MethodDecorator =>
  QueryParameter({
    name: 'dry_run',
    required: false,
    schema: { type: 'boolean', default: false },
    description: 'Only validates, and returns what would be saved',
  });

export const isRehearsal = (query: ListQuery): boolean => flagOf(query, 'dry_run');
