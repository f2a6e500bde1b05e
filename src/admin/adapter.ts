import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest, FastifyServerFactory } from 'fastify';
import { AppError } from '../common/errors/app-error.js';
import { answerRefusal } from './error.filter.js';

/** Longer than any request line that Node accepts: what a parameter may hold is for the handlers to say. */
const LONGEST_PARAMETER = 64 * 1024;

/** The web server of the administration, which refuses in our words also what it does not route. */
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
