import { Catch, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { AppError } from '../../common/errors/app-error.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { ErrorFilter } from '../error.filter.js';
import { createLogger } from '../../common/observability/logger.js';
import { AuditTrail } from './audit-trail.service.js';
import { isReading } from './reading.js';

const logger = createLogger('audit');

/** Errors of the audit itself, or of what it depends on: another attempt would only delay the response. */
const POINTLESS: ReadonlySet<string> = new Set([
  'audit_unavailable',
  'database_unavailable',
  'auth_unavailable',
]);

/**
 * Records refused and failed changes by authenticated callers. Guards run before interceptors, so this is the only place where all of them
 * pass.
 */
@Catch()
@Injectable()
export class RefusalRecordingFilter extends ErrorFilter {
  constructor(private readonly trail: AuditTrail) {
    super();
  }

  protected override async refused(request: FastifyRequest, { code, spec }: AppError): Promise<void> {
    if (isReading(request.method) || POINTLESS.has(code)) return;
    const outcome = spec.status >= 500 ? 'failed' : 'refused';
    try {
      await this.trail.record(request, { outcome, status: spec.status, errorCode: code });
    } catch (error) {
      logger.error(
        { request_id: request.id, failure: describeFailure(error) },
        'A refused attempt could not be recorded.',
      );
    }
  }
}
