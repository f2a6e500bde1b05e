import type { FastifyRequest } from 'fastify';
import type { Newcomer } from '../tokens/newcomer.js';

/** Creates users that a signed token names first. */
export abstract class Newcomers {
  /** Resolves once the user exists. Rejects with `forbidden` when the organization accepts no more users. */
  abstract welcome(newcomer: Newcomer, request: FastifyRequest): Promise<void>;
}
