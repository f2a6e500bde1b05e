import type {
  IdentityProvider,
  NewIdentityProvider,
  RoleMapping,
  TrialDraft,
} from '../../api/identity-providers';

/** A row of the group mappings in the form. An empty text means not chosen. */
export interface MappingForm {
  readonly key: number;
  readonly group: string;
  readonly organizationRole: string;
  readonly workspace: string;
  readonly workspaceRole: string;
}

/** The form of an identity provider. */
export interface Form {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly secret: string;
  readonly scopes: string;
  readonly domains: string;
  readonly isEnabled: boolean;
  readonly groupsClaim: string;
  readonly mappings: readonly MappingForm[];
  readonly createsUsers: boolean;
  readonly rolesFollow: boolean;
}

export const EMPTY: Form = {
  name: '',
  issuer: '',
  clientId: '',
  secret: '',
  scopes: 'openid email profile',
  domains: '',
  isEnabled: true,
  groupsClaim: 'groups',
  mappings: [],
  createsUsers: true,
  rolesFollow: true,
};

export const newMapping = (mappings: readonly MappingForm[]): MappingForm => ({
  key: Math.max(0, ...mappings.map(({ key }) => key)) + 1,
  ...{ group: '', organizationRole: '', workspace: '', workspaceRole: 'member' },
});

const mappingForm = (mapping: RoleMapping, at: number): MappingForm => ({
  key: at,
  group: mapping.value,
  organizationRole: mapping.organisation_role ?? '',
  workspace: mapping.workspace_id ?? '',
  workspaceRole: mapping.workspace_role ?? 'member',
});

export const formOf = (provider: IdentityProvider): Form => ({
  name: provider.name,
  issuer: provider.issuer,
  clientId: provider.client_id,
  secret: '',
  scopes: provider.scopes.join(' '),
  domains: provider.domains.join(', '),
  isEnabled: provider.enabled,
  groupsClaim: provider.groups_claim,
  mappings: provider.role_mappings.map(mappingForm),
  createsUsers: provider.create_users,
  rolesFollow: provider.roles_follow_directory,
});

const wordsOf = (text: string): string[] => [...new Set(text.split(/[\s,;]+/).filter(Boolean))];

const mappingOf = ({ group, organizationRole, workspace, workspaceRole }: MappingForm): RoleMapping => ({
  value: group.trim(),
  ...(organizationRole !== '' && {
    organisation_role: organizationRole as NonNullable<RoleMapping['organisation_role']>,
  }),
  ...(workspace !== '' && {
    workspace_id: workspace,
    workspace_role: workspaceRole as NonNullable<RoleMapping['workspace_role']>,
  }),
});

/** The settings to test. The secret is omitted if not entered: the stored one is used. */
const triedOf = (form: Form) => ({
  issuer: form.issuer.trim(),
  client_id: form.clientId.trim(),
  ...(form.secret !== '' && { client_secret: form.secret }),
  scopes: wordsOf(form.scopes),
  domains: wordsOf(form.domains),
  enabled: form.isEnabled,
  groups_claim: form.groupsClaim.trim(),
  role_mappings: form.mappings.map(mappingOf),
  create_users: form.createsUsers,
  roles_follow_directory: form.rolesFollow,
});

const bodyOf = (form: Form) => ({ name: form.name.trim(), ...triedOf(form) });

export const newBody = (form: Form, reservedId: string | undefined): NewIdentityProvider => ({
  ...bodyOf(form),
  client_secret: form.secret,
  ...(reservedId !== undefined && { id: reservedId }),
});

export const changeOf = (form: Form): Partial<NewIdentityProvider> => bodyOf(form);

/** `provider`: the saved one, whose secret is used if none was entered. */
export const trialBody = (
  form: Form,
  provider: IdentityProvider | null,
  reservedId: string | undefined,
): TrialDraft => ({
  ...triedOf(form),
  ...(provider && { identity_provider_id: provider.id }),
  ...(!provider && reservedId !== undefined && { id: reservedId }),
});

/** A secret is only sent to the issuer that it was entered for. */
export const needsSecret = (form: Form, provider: IdentityProvider | null): boolean =>
  provider === null || form.issuer.trim() !== provider.issuer;

/** Whether users' accounts would be unlinked. */
export const isOtherClient = (form: Form, provider: IdentityProvider): boolean =>
  form.issuer.trim() !== provider.issuer || form.clientId.trim() !== provider.client_id;

/** Whether the form has enough to contact the provider. */
export const isReachable = (form: Form, provider: IdentityProvider | null): boolean =>
  form.issuer.trim() !== '' &&
  form.clientId.trim() !== '' &&
  (form.secret !== '' || !needsSecret(form, provider)) &&
  form.groupsClaim.trim() !== '' &&
  form.mappings.every(({ group }) => group.trim() !== '');

export const isWhole = (form: Form, provider: IdentityProvider | null): boolean =>
  form.name.trim() !== '' && isReachable(form, provider);
