import type { FastifyRequest } from 'fastify';
import type { ClientAddresses } from '../../common/http/client-address.js';
import type { SignInOrigin } from './sessions.service.js';

/** Where the sign-in of a request comes from. */
export const originOf = ({ raw, headers }: FastifyRequest, addresses: ClientAddresses): SignInOrigin => ({
  ip: addresses.of(raw),
  userAgent: headers['user-agent'],
  cookies: headers.cookie,
});
