import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest, FastifyServerFactory } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { answerRefusal } from './error.filter.js';

/** Longer than any request line that Node accepts: handlers limit the length of parameters. */
const LONGEST_PARAMETER = 64 * 1024;

/** The web server of the administration. Unrouted requests get errors in our format, too. */
export function createAdapter(serverFactory?: FastifyServerFactory): FastifyAdapter {
  return new FastifyAdapter({
    ...(serverFactory && { serverFactory }),
    return503OnClosing: false,
    routerOptions: { maxParamLength: LONGEST_PARAMETER },
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) => {
      const detail = 'it has a "%" that does not begin an encoded UTF-8 character';
      answerRefusal(reply, request, new AppError('path_invalid', { detail }));
    },
  });
}
