import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { type OpenTrial, SignInTrialsService } from '../identity-providers/sign-in-trials.service.js';
import { isTrial } from '../identity-providers/trial-drafts.service.js';
import { type DirectoryAnswer, ProviderClient } from '../openid-connect/provider-client.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import { SignOnFlows } from '../openid-connect/sign-on-flows.service.js';
import { SignInThrottle } from '../sign-in-policy/sign-in-throttle.service.js';
import type { User } from '../tenancy/user.entity.js';
import { ProvisioningService, type VerifiedSignOn } from './provisioning.service.js';

/** A user whom a provider has authenticated. */
export interface AuthenticatedSignOn extends VerifiedSignOn {
  readonly user: User;
  /** A path within the dashboard. */
  readonly returnTo: string;
}

/** The provider's response to a trial. */
export interface AnsweredTrial {
  readonly trial: OpenTrial;
  readonly outcome: DirectoryAnswer | AppError;
}

/**
 * Reads the parameters of the provider's redirect, and exchanges them for the user's claims. Call it outside a transaction: none may be open
 * during the call of the provider, and a state stays used whatever the outcome.
 */
@Injectable()
export class SignOnCallbackService {
  constructor(
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly flows: SignOnFlows,
    private readonly trials: SignInTrialsService,
    private readonly provisioning: ProvisioningService,
    private readonly throttle: SignInThrottle,
    private readonly addresses: ClientAddresses,
  ) {}

  /** Refuses with `sso_state_invalid` a state that this service did not issue, or that was used. */
  receive(request: FastifyRequest): Promise<AuthenticatedSignOn | AnsweredTrial> {
    const { state: sent } = request.query as { readonly state?: unknown };
    const state = typeof sent === 'string' ? sent : '';
    return isTrial(state) ? this.ofTrial(request, state) : this.ofSignIn(request, state);
  }

  /**
   * Only what belongs to a sign-in in progress is counted, and apart from passwords: any page can send a browser here, and without a state
   * that was issued there is nothing to guess.
   */
  private counted<T>({ raw }: FastifyRequest, work: () => Promise<T>): Promise<T> {
    return this.throttle.counted(
      { kind: 'singleSignOn', address: this.addresses.of(raw), subject: '' },
      work,
    );
  }

  private async ofSignIn(request: FastifyRequest, state: string): Promise<AuthenticatedSignOn> {
    const flow = await this.flows.take(request.raw.headers.cookie, state);
    return this.counted(request, async () => {
      const address = this.addressOf(request, flow.providerId);
      const provider = await this.providers.usable(flow.providerId);
      const opened = await this.providers.opened(provider);
      const answer = await this.client.exchange(opened, flow, address);
      const user = await this.provisioning.admit({ provider, answer }, request);
      return { provider, answer, user, returnTo: flow.returnTo };
    });
  }

  private async ofTrial(request: FastifyRequest, state: string): Promise<AnsweredTrial> {
    const trial = await this.trials.open(state);
    return this.counted(request, async () => {
      const address = this.addressOf(request, trial.draft.redirectId);
      return { trial, outcome: await this.trials.exchange(trial, address) };
    });
  }

  /**
   * The complete URL that the provider redirected to. Each provider has a redirect URI of its own, so a code that arrives at another one
   * than the flow's was issued by another provider, and must not leave to the token endpoint of this one:
   * https://www.rfc-editor.org/rfc/rfc9700#section-4.4.2
   */
  private addressOf({ url, params }: FastifyRequest, providerId: string): URL {
    if ((params as { readonly provider?: string }).provider?.toLowerCase() !== providerId)
      throw new AppError('sso_response_invalid', {
        detail: 'it arrived at the redirect URI of another identity provider',
      });
    const address = new URL(this.providers.addresses.callback(providerId));
    address.search = url.slice(Math.max(url.indexOf('?'), 0));
    return address;
  }
}
