import { Catch, Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { accessOf } from '../../auth/permissions/access.js';
import type { AppError } from '../../common/errors/app-error.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { ErrorFilter } from '../http/error.filter.js';
import { createLogger } from '../../common/observability/logger.js';
import { AuditTrail } from './audit-trail.service.js';
import { isReading } from './reading.js';
import { RepeatedRefusals } from './repeated-refusals.js';

const logger = createLogger('audit');

/** Errors of the audit itself, or of what it depends on: another attempt would only delay the response. */
const POINTLESS: ReadonlySet<string> = new Set([
  'audit_unavailable',
  'database_busy',
  'database_unavailable',
  'auth_unavailable',
]);

/** Statuses that mean "not allowed". A read that found nothing, or was malformed, is no attempt at anything. */
const DENIED: ReadonlySet<number> = new Set([401, 403]);

/** Refusals without any work: a page of a sibling host causes the first with a user's cookie, and throttled attempts are never compared. */
const EFFORTLESS: ReadonlySet<string> = new Set(['csrf_rejected', 'rate_limited']);

/**
 * Records refused and failed changes, and refused reads, of authenticated callers. Guards run before interceptors, so this is the only place
 * where all of them pass. Refusals that cost their sender nothing are recorded once a window for each caller and operation.
 */
@Catch()
@Injectable()
export class RefusalRecordingFilter extends ErrorFilter {
  private readonly repeated = new RepeatedRefusals();

  constructor(private readonly trail: AuditTrail) {
    super();
  }

  protected override async refused(request: FastifyRequest, { code, spec }: AppError): Promise<void> {
    const isRead = isReading(request.method);
    if (POINTLESS.has(code) || (isRead && !DENIED.has(spec.status))) return;
    if (isRead || EFFORTLESS.has(code)) {
      const repetitions = this.repeated.count(subjectOf(request, code), Date.now());
      if (repetitions === null) return;
      if (repetitions > 0) this.trail.noteRefusal(request, { repetitions });
    }
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

/** By the route and not by the path: ids in the path are the sender's choice. */
function subjectOf(request: FastifyRequest, code: string): string {
  const { caller } = accessOf(request);
  const who = [caller?.organizationId, caller?.apiKeyId, caller?.userId, caller?.name].join(' ');
  return `${who} ${request.method} ${request.routeOptions.url} ${code}`;
}
