import type { FastifyRequest } from 'fastify';
import type { JustInTimeUser } from '../tokens/just-in-time-user.js';

/** Creates users that a signed token names first. */
export abstract class JustInTimeUsers {
  /** Resolves once the user exists. Rejects with `forbidden` when the organization accepts no more users. */
  abstract provision(user: JustInTimeUser, request: FastifyRequest): Promise<void>;
}
