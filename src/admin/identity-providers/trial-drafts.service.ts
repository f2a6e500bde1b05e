import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../common/crypto/envelope.js';
import { Secret } from '../../common/settings/secret.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import type { IdentityProvider } from '../sign-in-policy/identity-provider.entity.js';
import type { SignInTrial } from './sign-in-trial.entity.js';
import { Egress } from '../../egress/egress.js';
import { AppError } from '../../common/errors/app-error.js';
import { checkIssuer } from '../openid-connect/check-issuer.js';
import type { DirectoryRules } from '../openid-connect/directory-rules.js';
import { domainsOf } from './domains-and-scopes.js';
import { directoryRulesOf, scopesOf } from './identity-provider.dto.js';
import type { OpenedProvider, SignOnSecrets } from '../openid-connect/provider-client.service.js';
import { SavedProviders } from '../openid-connect/saved-providers.service.js';
import type { StartTrialDto } from './sign-in-trial.dto.js';
import { newSecrets } from '../openid-connect/sign-on-flows.service.js';
import { missingField } from '../../common/errors/field-errors.js';

/** Prefix of the states of trials only. */
const PREFIX = 'trial.';

type OpenProvider = Omit<OpenedProvider, 'clientSecret'>;

/** The tested settings, sealed in the row of the trial. */
export interface Draft extends SignOnSecrets {
  readonly provider: OpenProvider & { readonly clientSecret: string };
  readonly providerId: string | null;
  /** In the redirect URI: of the saved provider, or reserved for the next one. */
  readonly redirectId: string;
  readonly isReserved: boolean;
  readonly domains: readonly string[];
  readonly rules: DirectoryRules;
}

/** A saved provider with its secret. */
interface SavedProvider {
  readonly row: IdentityProvider;
  readonly opened: OpenedProvider;
}

export const isTrial = (state: string): boolean => state.startsWith(PREFIX);

/** Combines the settings to test: the body's, and for the rest those of the saved provider. */
@Injectable()
export class TrialDrafts {
  constructor(
    private readonly providers: SavedProviders,
    private readonly box: SecretBox,
    private readonly egress: Egress,
  ) {}

  async make(organizationId: string, dto: StartTrialDto): Promise<Draft> {
    const saved = await this.savedOf(organizationId, dto);
    const issuer = required('issuer', dto.issuer ?? saved?.opened.issuer);
    checkIssuer(issuer, this.egress);
    const same = saved?.opened.issuer === issuer ? saved : null;
    return {
      ...newSecrets(PREFIX),
      provider: { organizationId, issuer, ...clientOf(dto, saved?.opened, same?.opened) },
      providerId: same && same.row.id,
      ...redirectOf(dto, saved?.row),
      ...peopleOf(dto, saved?.row),
    };
  }

  sealed(id: string, draft: Draft): Buffer {
    const { organizationId } = draft.provider;
    return this.box.sealBytes(organizationId, purposeOf(id), Buffer.from(JSON.stringify(draft)));
  }

  opened({ organizationId, id, sealedDraft }: SignInTrial): Draft {
    const clear = this.box.openBytes(organizationId, purposeOf(id), sealedDraft);
    return JSON.parse(clear.toString('utf8')) as Draft;
  }

  private async savedOf(
    organizationId: string,
    { id: reserved, identity_provider_id: id }: StartTrialDto,
  ): Promise<SavedProvider | null> {
    if (id === undefined) return null;
    if (reserved !== undefined)
      throw new AppError('invalid_request', {
        detail: 'The fields "id" and "identity_provider_id" exclude each other. Send one of them.',
      });
    const row = await this.providers.find(organizationId, id);
    return { row, opened: await this.providers.opened(row) };
  }
}

export const openedOf = ({ provider }: Draft): OpenedProvider => ({
  ...provider,
  clientSecret: new Secret(provider.clientSecret),
});

/** A secret is only sent to the issuer that it was saved for. */
const clientOf = (
  dto: StartTrialDto,
  saved: OpenedProvider | undefined,
  same: OpenedProvider | undefined,
) => ({
  clientId: required('client_id', dto.client_id ?? saved?.clientId),
  clientSecret: required('client_secret', dto.client_secret ?? same?.clientSecret.reveal()),
  scopes: dto.scopes ?? saved?.scopes ?? scopesOf(dto),
});

/** Of the saved provider, or of the id that is reserved for the next one. */
const redirectOf = ({ id }: StartTrialDto, row: IdentityProvider | undefined) => ({
  redirectId: row?.id ?? id?.toLowerCase() ?? uuidV7(Date.now()),
  isReserved: row === undefined,
});

/** Who can sign in, and with which roles. */
const peopleOf = (dto: StartTrialDto, row: IdentityProvider | undefined) => ({
  domains: dto.domains ? domainsOf(dto.domains) : (row?.domains ?? []),
  rules: directoryRulesOf(dto, row?.rules as DirectoryRules | undefined),
});

const purposeOf = (id: string): string[] => ['sign-in trial', id];

function required(field: string, value: string | undefined): string {
  if (value === undefined) throw missingField(field);
  return value;
}
