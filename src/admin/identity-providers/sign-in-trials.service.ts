import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, LessThan, MoreThan, type Repository } from 'typeorm';
import type { Principal } from '../../auth/principal.js';
import { OpaqueTokens } from '../../common/crypto/opaque-tokens.js';
import { SignInTrial } from './sign-in-trial.entity.js';
import { AppError } from '../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../common/ids/uuid-v7.js';
import { PeopleService } from '../users/people.service.js';
import { type DirectoryAnswer, ProviderClient } from '../openid-connect/provider-client.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import type { SignInTrialDto, StartedTrialDto, StartTrialDto, TrialResultDto } from './sign-in-trial.dto.js';
import { FLOW_LASTS_MS } from '../openid-connect/sign-on-flows.service.js';
import { type SignOnPlan, SignOnPlans } from '../openid-connect/sign-on-plans.service.js';
import { type Draft, openedOf, TrialDrafts } from './trial-drafts.service.js';

export interface OpenTrial {
  readonly trial: SignInTrial;
  readonly draft: Draft;
}

/** Test sign-ins that show a provider's claims and their effect before it is saved. They open no session. */
@Injectable()
export class SignInTrialsService {
  constructor(
    @InjectRepository(SignInTrial) private readonly trials: Repository<SignInTrial>,
    private readonly drafts: TrialDrafts,
    private readonly providers: SavedProviders,
    private readonly client: ProviderClient,
    private readonly plans: SignOnPlans,
    private readonly people: PeopleService,
    private readonly tokens: OpaqueTokens,
  ) {}

  /** Rejects with `sso_provider_unavailable` if the provider's metadata cannot be fetched. */
  async start(caller: Principal, dto: StartTrialDto): Promise<StartedTrialDto> {
    await this.people.checkMayChangeSignIn(caller);
    const draft = await this.drafts.make(caller.organizationId, dto);
    const { organizationId } = caller;
    const redirectUri = this.providers.addresses.callback(draft.redirectId);
    const url = await this.client.authorizationUrl(openedOf(draft), draft, { redirectUri });
    const id = uuidV7(Date.now());
    const expiresAt = new Date(Date.now() + FLOW_LASTS_MS);
    await this.trials.delete({ organizationId, expiresAt: LessThan(new Date()) });
    await this.trials.insert({
      ...{ id, organizationId, expiresAt, result: null },
      stateHash: this.tokens.hashOf('sign-on state', draft.state),
      sealedDraft: this.drafts.sealed(id, draft),
    });
    return {
      ...{ object: 'started-sign-in-trial', id, authorization_url: url },
      ...{ identity_provider_id: draft.redirectId, redirect_uri: redirectUri },
      expires_at: expiresAt.toISOString(),
    };
  }

  async get({ organizationId }: Principal, id: string): Promise<SignInTrialDto> {
    const expiresAt = MoreThan(new Date());
    const trial = isUuid(id)
      ? await this.trials.findOneBy({ organizationId, id: id.toLowerCase(), expiresAt })
      : null;
    if (!trial) throw new AppError('not_found', { resource: 'trial' });
    return {
      ...{ object: 'sign-in-trial', id: trial.id, expires_at: trial.expiresAt.toISOString() },
      redirect_uri: this.providers.addresses.callback(this.drafts.opened(trial).redirectId),
      status: trial.result === null ? 'pending' : 'done',
      ...(trial.result === null ? {} : { result: trial.result as TrialResultDto }),
    };
  }

  /** The trial with a state. Refuses with `sso_state_invalid` if it has expired or was completed. */
  async open(state: string): Promise<OpenTrial> {
    const stateHash = this.tokens.hashOf('sign-on state', state);
    const trial = await this.trials.findOneBy({
      stateHash,
      expiresAt: MoreThan(new Date()),
      result: IsNull(),
    });
    if (!trial) throw new AppError('sso_state_invalid');
    return { trial, draft: this.drafts.opened(trial) };
  }

  /**
   * The provider's response, or why it is refused. A reserved id that a provider of any organization has by now is refused, too: its codes
   * would leave to the endpoint of the draft.
   */
  async exchange({ draft }: OpenTrial, address: URL): Promise<DirectoryAnswer | AppError> {
    if (draft.isReserved && (await this.providers.isSaved(draft.redirectId)))
      return new AppError('sso_state_invalid');
    return this.client.exchange(openedOf(draft), draft, address).catch(asRefusal);
  }

  async finish({ trial, draft }: OpenTrial, answer: DirectoryAnswer | AppError): Promise<void> {
    const result = answer instanceof AppError ? refused({}, answer) : await this.resultOf(draft, answer);
    const { affected } = await this.trials.update({ id: trial.id, result: IsNull() }, { result });
    if (!affected) throw new AppError('sso_state_invalid');
  }

  private async resultOf(draft: Draft, { subject, claims }: DirectoryAnswer): Promise<TrialResultDto> {
    const { providerId, domains, rules, provider } = draft;
    const { organizationId } = provider;
    const person = { organizationId, providerId, domains, rules, subject, claims };
    const known = this.plans.find(person);
    const plan = await known.then((match) => this.plans.of(person, match)).catch(asRefusal);
    return plan instanceof AppError ? refused(claims, plan) : foreseen(claims, plan);
  }
}

function asRefusal(error: unknown): AppError {
  if (error instanceof AppError) return error;
  throw error;
}

const refused = (claims: object, { code, message }: AppError): TrialResultDto => ({
  ...{ claims, email: null, action: null, role: null, workspaces: null },
  error: { code, message },
});

function foreseen(claims: object, { email, user, isLinked, roles }: SignOnPlan): TrialResultDto {
  const action = user === null ? 'create' : isLinked ? 'sign_in' : 'link';
  const role = user?.role === 'owner' ? 'owner' : (roles?.role ?? user?.role ?? 'member');
  const workspaces =
    roles &&
    [...roles.workspaces].map(([workspace_id, workspaceRole]) => ({ workspace_id, role: workspaceRole }));
  return { claims, email, action, role, workspaces };
}
