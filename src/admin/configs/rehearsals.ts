import { ApiQuery } from '@nestjs/swagger';
import { type ListQuery, parameterOf } from '../../common/database/page.js';
import { AppError } from '../../common/errors/app-error.js';

/** For an operation that saves a config. It must ask `isRehearsal`: who rehearses must not find that it was done. */
export const MayBeRehearsed = (): MethodDecorator =>
  ApiQuery({
    name: 'dry_run',
    required: false,
    schema: { type: 'boolean', default: false },
    description: 'Only check, and answer what would be saved',
  });

export function isRehearsal(query: ListQuery): boolean {
  const wanted = parameterOf(query, 'dry_run') ?? 'false';
  if (wanted === 'true' || wanted === 'false') return wanted === 'true';
  throw new AppError('invalid_request', { detail: 'The parameter "dry_run" must be "true" or "false".' });
}
