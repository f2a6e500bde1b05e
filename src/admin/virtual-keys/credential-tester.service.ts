import { Injectable } from '@nestjs/common';
import type { Secret } from '../../common/settings/secret.js';
import { type HttpAnswer, HttpCaller } from '../../egress/http-caller.js';
import { upstreamFailure } from '../../egress/upstream-failure.js';
import { AppError } from '../../common/errors/app-error.js';
import { NoSlotError, Semaphore } from '../../common/processes/semaphore.js';
import { listedModels, listingRequest } from '../../providers/model-listing.js';
import { PriceBook } from '../../providers/prices/price-book.js';
import type { Provider } from '../../providers/provider.js';

/** An account whose credential is tested. */
export interface TestedAccount {
  readonly organizationId: string;
  readonly provider: Provider;
  readonly customHost: string | null;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: Secret | null;
}

/**
 * `works`: the provider accepted the credential. `refused`: it responded with 401 or 403. `inconclusive`: its response does not depend on
 * the credential. `unreachable`: it did not respond. `not_testable`: it has no suitable endpoint.
 */
export const TEST_OUTCOMES = ['works', 'refused', 'inconclusive', 'unreachable', 'not_testable'] as const;

export interface TestResult {
  readonly outcome: (typeof TEST_OUTCOMES)[number];
  readonly status: number | null;
  readonly latencyMs: number | null;
  readonly models: readonly string[];
  /** Models without a known price. */
  readonly unpriced: readonly string[];
  /** Why it does not work, or is unknown: the provider's own message if there is one. */
  readonly reason: string | null;
}

/** For both requests together, which bounds how long a test holds a database connection. */
const TIMEOUT_MS = 8_000;
const MOST_AT_ONCE = 2;
const WAIT_MS = 2_000;
const LONGEST_REASON = 500;

const SIGNED =
  'This provider takes signed requests, so its credential cannot be tested by listing models. Send a request with the virtual key.';
const PUBLIC_LIST =
  'The provider lists its models without a credential, so this test cannot tell whether it accepts yours.';

/** Requests a provider's model list with a credential: this is free, and shows which models the account can use. */
@Injectable()
export class CredentialTester {
  private readonly slots = new Semaphore(MOST_AT_ONCE);

  constructor(
    private readonly http: HttpCaller,
    private readonly prices: PriceBook,
  ) {}

  /** Provider failures never reject. Rejects with `overloaded` while too many tests run. */
  async test(account: TestedAccount): Promise<TestResult> {
    const { provider } = account;
    if (provider.inProcess) return this.answered(account, 'works', [...(provider.prices?.keys() ?? [])]);
    if (provider.auth.signer) return { ...NOTHING, outcome: 'not_testable', reason: SIGNED };
    const release = await this.slots.take(WAIT_MS).catch(asOverloaded);
    try {
      return await this.ask(account);
    } finally {
      release();
    }
  }

  private async ask(account: TestedAccount): Promise<TestResult> {
    const startedAt = performance.now();
    let answer: HttpAnswer;
    try {
      answer = await this.list(account, account.key, TIMEOUT_MS);
    } catch (error) {
      return { ...NOTHING, outcome: 'unreachable', reason: reasonOf(error) };
    }
    const latencyMs = Math.round(performance.now() - startedAt);
    const { status, text } = answer;
    if (status < 200 || status > 299) {
      const outcome = status === 401 || status === 403 ? 'refused' : 'inconclusive';
      return {
        ...NOTHING,
        outcome,
        status,
        latencyMs,
        reason: withoutSecret(wordsOf(text), account.key).slice(0, LONGEST_REASON),
      };
    }
    const isPublic = await this.isPublic(account, TIMEOUT_MS - latencyMs);
    const result = this.answered(account, isPublic ? 'inconclusive' : 'works', listedModels(parsed(text)));
    return { ...result, status, latencyMs, reason: isPublic ? PUBLIC_LIST : null };
  }

  /** Whether the list is public: then it proves nothing. */
  private async isPublic(account: TestedAccount, timeoutMs: number): Promise<boolean> {
    if (account.key === null) return false;
    const answer = await this.list(account, null, Math.max(1, timeoutMs)).catch(() => null);
    return answer !== null && answer.status >= 200 && answer.status <= 299;
  }

  private list(account: TestedAccount, key: Secret | null, timeoutMs: number): Promise<HttpAnswer> {
    const { url, headers } = listingRequest(account.provider, { ...account, key });
    return this.http.call(account.organizationId, {
      method: 'GET',
      url,
      headers: ['accept', 'application/json', 'accept-encoding', 'identity', ...headers],
      body: null,
      timeoutMs,
    });
  }

  private answered(
    { provider }: TestedAccount,
    outcome: TestResult['outcome'],
    models: readonly string[],
  ): TestResult {
    const isUnpriced = (model: string): boolean =>
      !provider.prices?.has(model) && !this.prices.find(provider.id, model);
    return { ...NOTHING, outcome, models, unpriced: models.filter(isUnpriced) };
  }
}

const NOTHING = { status: null, latencyMs: null, models: [], unpriced: [], reason: null } as const;

function asOverloaded(error: unknown): never {
  throw error instanceof NoSlotError ? new AppError('overloaded') : error;
}

function reasonOf(error: unknown): string {
  if (error instanceof Error && error.name === 'TimeoutError')
    return `The provider did not respond within ${TIMEOUT_MS / 1000} seconds.`;
  if (error instanceof AppError) return error.message;
  return upstreamFailure(error).message;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

/** The error message of a response, wherever the provider puts it; else the beginning of the response. */
function wordsOf(text: string): string {
  const { error, message, detail } = (parsed(text) ?? {}) as Record<string, unknown>;
  const inner =
    typeof error === 'object' && error !== null ? (error as Record<string, unknown>).message : error;
  const said = [inner, message, detail].find((one) => typeof one === 'string' && one !== '');
  return typeof said === 'string' ? said : text;
}

/** Some servers echo what was sent to them. */
const withoutSecret = (text: string, key: Secret | null): string =>
  key === null || key.reveal() === '' ? text : text.replaceAll(key.reveal(), '***');
