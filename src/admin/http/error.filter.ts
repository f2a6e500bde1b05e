import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLogger } from '../../common/observability/logger.js';
import { AppError, errorBody } from '../../common/errors/app-error.js';
import { isFinal } from '../../common/errors/error-spec.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import {
  isDatabaseBusy,
  isDatabaseUnavailable,
  isPoolBusy,
  isReferenceBroken,
} from '../../database/sessions/database-errors.js';
import { ADMINISTRATION_BODY_LIMIT } from '../../common/http/body-limits.js';

const logger = createLogger('administration');

/** Statuses that invite a retry, with the delay in seconds. */
const COME_BACK: ReadonlySet<number> = new Set([429, 503]);
const RETRY_AFTER_SECONDS = '1';

const LONGEST_CONTENT_TYPE = 100;

/** Converts anything thrown to an error response, and logs what was not thrown on purpose. */
@Catch()
export abstract class ErrorFilter implements ExceptionFilter {
  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const reply = host.switchToHttp().getResponse<FastifyReply>();
    const error = toAdministrationError(thrown, {
      contentType: contentTypeOf(request),
      bodyLimit: request.routeOptions.bodyLimit,
    });
    if (error.spec.status >= 500)
      logger.error(
        { request_id: request.id, code: error.code, failure: describeFailure(error) },
        'A request failed.',
      );
    await this.refused(request, error);
    answerRefusal(reply, request, error);
  }

  /** Records a refusal before the response is sent. Must not reject. */
  protected abstract refused(request: FastifyRequest, error: AppError): Promise<void>;
}

/** Sends an error response. */
export function answerRefusal(reply: FastifyReply, request: FastifyRequest, error: AppError): void {
  if (reply.sent) return;
  reply.header('x-gateway-error-source', 'gateway');
  if (COME_BACK.has(error.spec.status))
    reply.header('retry-after', String(error.details['retryAfterSeconds'] ?? RETRY_AFTER_SECONDS));
  if (error.details['allowed'] !== undefined) reply.header('allow', String(error.details['allowed']));
  if (isFinal(error.spec)) reply.header('x-should-retry', 'false');
  reply.status(error.spec.status).type('application/json; charset=utf-8').send(errorBody(error, request.id));
}

function contentTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? 'none').slice(0, LONGEST_CONTENT_TYPE);
}

/** Facts about the request for its refusal. */
interface RefusalFacts {
  readonly contentType: string;
  /** Largest allowed body in bytes. */
  readonly bodyLimit?: number | undefined;
}

/** Converts anything that the administration threw to an `AppError`: our own errors, the framework's, or the database's. */
export function toAdministrationError(thrown: unknown, request: RefusalFacts): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof HttpException) return fromFramework(thrown, request);
  if (isDatabaseUnavailable(thrown)) return new AppError('database_unavailable', {}, { cause: thrown });
  if (isPoolBusy(thrown)) return new AppError('database_busy', {}, { cause: thrown });
  if (isReferenceBroken(thrown)) return new AppError('conflict', { detail: MEANWHILE }, { cause: thrown });
  if (isDatabaseBusy(thrown)) return new AppError('overloaded', {}, { cause: thrown });
  return AppError.from(thrown);
}

const MEANWHILE =
  'Another resource that this one refers to was removed, or another resource still refers to this one. Nothing was changed.';

/** The framework refuses before any handler, and indicates the reason only by status; its texts name libraries. */
function fromFramework(thrown: HttpException, { contentType, bodyLimit }: RefusalFacts): AppError {
  switch (thrown.getStatus()) {
    case 404:
      return new AppError('not_found', { resource: 'path' });
    case 413:
      return new AppError('body_too_large', { limitBytes: bodyLimit ?? ADMINISTRATION_BODY_LIMIT });
    case 415:
      return new AppError('unsupported_media_type', { contentType });
    case 400:
      return new AppError('invalid_request', { detail: 'The request cannot be read.' }, { cause: thrown });
    default:
      return AppError.from(thrown);
  }
}
