import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import { LauncherError } from '../launcher-error.js';
import { say } from '../terminal.js';
import type { AdministrationClient } from './administration-client.js';
import { type DeclaredChange, inWords } from './change.js';
import { connect, type ConnectOptions } from './connect.js';
import { planChanges } from './plan-changes.js';
import type { SecretReader } from './planning.js';
import { type ReadDocument, readDocument, WrongFile } from './read-document.js';

export interface ApplyOptions extends ConnectOptions {
  readonly file: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `gatehouse apply`: makes the organization match a file, after showing the changes. Returns the exit code. */
export async function applyCommand(environment: NodeJS.ProcessEnv, options: ApplyOptions): Promise<number> {
  const read = readDocument(await textOf(options.file), options.file);
  const { client, changes } = await planned(environment, options, read);
  if (changes.length === 0) {
    say('Nothing to change.');
    return 0;
  }
  say(inWords(changes));
  if (options.dryRun) return 0;
  if (!options.yes && !(await isConfirmed(changes.length))) {
    say('Nothing was changed.');
    return 1;
  }
  await make(client, changes);
  return 0;
}

/** Mistakes that the file alone reveals are reported even when the service, which would reveal the others, is unavailable. */
async function planned(
  environment: NodeJS.ProcessEnv,
  options: ApplyOptions,
  read: ReadDocument,
): Promise<{ client: AdministrationClient; changes: readonly DeclaredChange[] }> {
  try {
    const client = await connect(environment, options);
    return { client, changes: await planChanges(client, read, secretsOf(environment)) };
  } catch (error) {
    if (!(error instanceof WrongFile)) read.refuse(read.mistakes);
    throw error;
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new LauncherError(`The file ${file} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

const secretsOf =
  (environment: NodeJS.ProcessEnv): SecretReader =>
  async (source) => {
    if ('from_env' in source) return environment[source.from_env] || null;
    const text = await readFile(source.from_file, 'utf8').catch(() => '');
    return text.trim() || null;
  };

async function isConfirmed(count: number): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new LauncherError(
      'The changes cannot be confirmed without a terminal. Nothing was changed; add --yes to apply them.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test(
      (await terminal.question(`Apply ${count} change${count === 1 ? '' : 's'}? [y/N] `)).trim(),
    );
  } finally {
    terminal.close();
  }
}

/** Each change is a separate request, so changes before a refusal remain; applying again makes the rest. */
export async function make(
  client: AdministrationClient,
  changes: readonly DeclaredChange[],
  notice = say,
): Promise<void> {
  const ids = new Map<string, string>();
  for (const [done, change] of changes.entries()) {
    const idOf = (workspace: string): string => ids.get(workspace) ?? workspace;
    const path = typeof change.path === 'string' ? change.path : change.path(idOf);
    const answer = await client
      .send(change.method, path, change.body(idOf), change.ifMatch)
      .catch((cause: unknown) => {
        throw new LauncherError(
          `${change.what} was not ${change.isNew ? 'made' : 'changed'}. ${(cause as Error).message} ` +
            `${done} of ${changes.length} changes were applied before it. Correct the cause and apply again.`,
          { cause },
        );
      });
    if (change.makesWorkspace !== undefined) ids.set(change.makesWorkspace, String(answer.id));
    notice(`${change.isNew ? 'made' : 'changed'}  ${change.what}`);
    if (typeof answer.invite_link === 'string') notice(invitationHint(String(answer.id)));
  }
}

/** The link is a secret, and this output may end up in logs. */
const invitationHint = (id: string): string =>
  `        No mail server is set. Send POST /v1/admin/users/invites/${id}/resend to get the link for the user.`;
