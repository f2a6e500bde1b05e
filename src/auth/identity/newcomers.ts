import type { FastifyRequest } from 'fastify';
import type { Newcomer } from '../tokens/newcomer.js';

/** Takes people in whom a signed token named first. */
export abstract class Newcomers {
  /** Afterwards the person is there. Rejects with `forbidden` when the organization takes no more. */
  abstract welcome(newcomer: Newcomer, request: FastifyRequest): Promise<void>;
}
