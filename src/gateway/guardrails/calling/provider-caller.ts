import { Injectable } from '@nestjs/common';
import type { Principal } from '../../../auth/principal.js';
import type { Json } from '../../../providers/endpoint.js';
import { NO_OPTIONS } from '../../types/gateway-headers.js';
import { Planner } from '../../planning/planner.js';
import { DEFAULT_PLAN } from '../../types/plan.js';
import { pathAt } from '../../translation/own-path.js';
import type { Target } from '../../types/target.js';
import { Sender } from '../../upstream/sender.js';
import { readWholeBody } from '../../upstream/whole-answer.js';

const ANSWER_BYTES_MAX = 1024 * 1024;

/** A guardrail's request to a provider with a stored credential. */
export interface ProviderCall {
  readonly caller: Principal;
  readonly virtualKey: string;
  /** Below the provider's base URL. */
  readonly path: string;
  readonly body: Json;
  readonly timeoutMs: number;
}

/** Requests verdicts from providers through the caller's virtual keys. */
@Injectable()
export class ProviderCaller {
  constructor(
    private readonly planner: Planner,
    private readonly sender: Sender,
  ) {}

  /** The JSON of a successful response. Rejects for every other. */
  async ask({ caller, virtualKey, path, body, timeoutMs }: ProviderCall): Promise<unknown> {
    const target = await this.planner.plan({
      caller,
      headers: {},
      options: NO_OPTIONS,
      modelSlug: virtualKey,
      planned: DEFAULT_PLAN,
    });
    const attempt = this.sender.start(
      caller.workspaceId ?? '',
      target,
      {
        method: 'POST',
        path: `${pathAt(target, path)}${target.query === '' ? '' : `?${target.query}`}`,
        headers: headersOf(target),
        body: Buffer.from(JSON.stringify(body)),
      },
      { ...this.sender.limitsFor(timeoutMs), totalMs: timeoutMs },
    );
    const reply = await attempt.reply;
    const answer = await readWholeBody(reply, ANSWER_BYTES_MAX);
    if (reply.status !== 200) throw new Error(`the provider returned status ${reply.status}`);
    return JSON.parse(answer.toString('utf8')) as unknown;
  }
}

function headersOf({ credentials: { key }, provider: { auth } }: Target): string[] {
  const headers = ['content-type', 'application/json', 'accept-encoding', 'identity'];
  return key && auth.header && !auth.signer ? [...headers, auth.header, auth.value(key)] : headers;
}
