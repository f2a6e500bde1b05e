import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { createLogger } from '../common/observability/logger.js';
import { toAdministrationError } from './administration-error.js';
import { type AppError, errorBody } from '../common/errors/app-error.js';
import { describeFailure } from '../common/errors/describe-failure.js';

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
  if (error.spec.doNotRetry) reply.header('x-should-retry', 'false');
  reply.status(error.spec.status).type('application/json; charset=utf-8').send(errorBody(error, request.id));
}

function contentTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? 'none').slice(0, LONGEST_CONTENT_TYPE);
}
