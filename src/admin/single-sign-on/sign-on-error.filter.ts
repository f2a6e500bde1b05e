import { type ArgumentsHost, Catch, type ExceptionFilter, HttpException, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { describeFailure } from '../../common/errors/describe-failure.js';
import { createLogger } from '../../common/observability/logger.js';
import { AuditTrail } from '../audit/audit-trail.service.js';
import { SIGN_IN_PAGE } from '../openid-connect/saved-providers.service.js';
import { SignOnFlows } from '../openid-connect/sign-on-flows.service.js';

const FOUND = 302;
const SERVER_ERROR = 500;

const logger = createLogger('single-sign-on');

/**
 * The browser is being redirected, so a refusal leads to the sign-in page, which explains it by its code: no text of the provider gets into
 * a URL. Attempts of identified users are recorded.
 */
@Catch()
@Injectable()
export class SignOnErrorFilter implements ExceptionFilter {
  constructor(
    private readonly audit: AuditTrail,
    private readonly flows: SignOnFlows,
  ) {}

  async catch(thrown: unknown, host: ArgumentsHost): Promise<void> {
    const request = host.switchToHttp().getRequest<FastifyRequest>();
    const error = AppError.from(thrown instanceof HttpException ? thrown.cause : thrown);
    const { code, message, cause } = error;
    const failure = cause === undefined ? undefined : describeFailure(cause);
    logger.warn({ request_id: request.id, code, reason: message, failure }, 'A single sign-on was refused.');
    await this.record(request, error);
    const query = new URLSearchParams({ error: code, request_id: request.id });
    await host
      .switchToHttp()
      .getResponse<FastifyReply>()
      .header('set-cookie', this.flows.clearedCookie)
      .redirect(`${SIGN_IN_PAGE}?${query.toString()}`, FOUND);
  }

  private async record(request: FastifyRequest, { code, spec }: AppError): Promise<void> {
    const outcome = spec.status < SERVER_ERROR ? 'refused' : 'failed';
    try {
      await this.audit.record(request, { outcome, status: spec.status, errorCode: code });
    } catch (error) {
      logger.error(
        { request_id: request.id, failure: describeFailure(error) },
        'A refused single sign-on could not be recorded.',
      );
    }
  }
}
