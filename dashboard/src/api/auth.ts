import { ask } from './client';

/** A workspace that the user can enter, and their rights in it. */
export interface SessionWorkspace {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly role: string;
  readonly scopes: readonly string[];
}

/** The signed-in user. */
export interface Session {
  readonly user: { readonly id: string; readonly email: string; readonly name: string | null };
  readonly role: string;
  readonly organisation: { readonly id: string; readonly name: string };
  readonly workspaces: readonly SessionWorkspace[];
  /** The user's scopes in the organization as a whole. */
  readonly scopes: readonly string[];
}

export interface Credentials {
  readonly email: string;
  readonly password: string;
  /** Code of the authenticator app, or a recovery code. */
  readonly code?: string;
}

export interface SetUp extends Credentials {
  readonly token: string;
  readonly name: string;
}

const PATH = '/v1/auth';

/** The part of the response of `GET /v1/auth/session` that the dashboard uses. */
export interface SignedIn {
  readonly user: {
    readonly id: string;
    readonly email: string;
    readonly first_name: string | null;
    readonly last_name: string | null;
    readonly role: string;
  };
  readonly organisation: Session['organisation'];
  readonly workspaces: readonly Omit<SessionWorkspace, 'scopes'>[];
  readonly scopes_by_role: Readonly<Record<string, readonly string[] | undefined>>;
  readonly scopes: readonly string[];
}

/** The page was requested without a cookie: reading the session would only be refused. Valid until a sign-in on this page. */
let isKnownAbsent = document.querySelector<HTMLMetaElement>('[name=gatehouse-session]')?.content === 'none';

/** Null without a session. Rejects with a status of 401 when it has ended. */
export async function findSession(signal?: AbortSignal): Promise<Session | null> {
  if (!isKnownAbsent) return readSession(signal);
  isKnownAbsent = false;
  return null;
}

async function readSession(signal?: AbortSignal): Promise<Session> {
  const { user, organisation, workspaces, scopes_by_role, scopes } = await ask<SignedIn>(
    'GET',
    `${PATH}/session`,
    undefined,
    signal,
  );
  const name = [user.first_name, user.last_name].filter(Boolean).join(' ');
  return {
    user: { id: user.id, email: user.email, name: name || null },
    role: user.role,
    organisation,
    workspaces: workspaces.map((workspace) => ({
      ...workspace,
      scopes: scopes_by_role[workspace.role] ?? [],
    })),
    scopes,
  };
}

async function openSession(path: string, given: object): Promise<void> {
  await ask('POST', `${PATH}/${path}`, given);
  isKnownAbsent = false;
}

export const signIn = (credentials: Credentials): Promise<void> => openSession('sign-in', credentials);

export const signOut = (): Promise<unknown> => ask('POST', `${PATH}/sign-out`);

/** Sets the owner's name and password with the one-use token of the set-up link, and signs them in. */
export const setUp = (given: SetUp): Promise<void> => openSession('set-up', given);

export interface PasswordReset {
  readonly token: string;
  readonly password: string;
  readonly code?: string;
}

/** Sets a new password with the one-use token of a reset link, and signs in. */
export const resetPassword = (given: PasswordReset): Promise<void> => openSession('set-up', given);

export type StepUp = Omit<Credentials, 'email'>;

/** Verifies the user's identity again. */
export const stepUp = (given: StepUp): Promise<unknown> => ask('POST', `${PATH}/step-up`, given);
