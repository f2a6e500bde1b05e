import { readFile } from 'node:fs/promises';
import { text as textIn } from 'node:stream/consumers';
import { LauncherError } from '../launcher-error.js';
import { CommandOutput, type JsonOption } from '../output.js';
import { isConfirmed, say } from '../terminal.js';
import type { AdministrationClient } from './administration-client.js';
import { type DeclaredChange, changesInWords } from './change.js';
import { connect, type ConnectOptions } from './connect.js';
import { planChanges } from './plan-changes.js';
import type { SecretReader } from './planning.js';
import { type ReadDocument, readDocument, WrongFile } from './read-document.js';

export interface ApplyOptions extends ConnectOptions, JsonOption {
  readonly file: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
}

/** `gatehouse apply`: makes the organization match a file, after showing the changes. Returns the exit code. */
export async function applyCommand(environment: NodeJS.ProcessEnv, options: ApplyOptions): Promise<number> {
  const read = readDocument(await textOf(options.file), options.file);
  const { client, changes } = await planned(environment, options, read);
  const output = new CommandOutput(options);
  output.say(changes.length === 0 ? 'Nothing to change.' : changesInWords(changes));
  const isToMake = changes.length > 0 && !options.dryRun;
  const question = `Apply ${changes.length} change${changes.length === 1 ? '' : 's'}?`;
  if (isToMake && !options.yes && !(await isConfirmed(question))) {
    output.say('Nothing was changed.');
    return 1;
  }
  if (isToMake) await make(client, changes, output.say);
  output.result({ applied: isToMake, changes: changes.map(shownChange) });
  return 0;
}

/** As `--json` prints it. The differences are without secrets. */
const shownChange = ({ what, isNew, differences }: DeclaredChange) => ({
  what,
  action: isNew ? 'create' : 'update',
  differences,
});

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

const STANDARD_INPUT = '-';

async function textOf(file: string): Promise<string> {
  try {
    return file === STANDARD_INPUT ? await textIn(process.stdin) : await readFile(file, 'utf8');
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new LauncherError(UNREADABLE[code]?.(file) ?? `The file ${file} cannot be read: ${message}.`, {
      cause,
    });
  }
}

const UNREADABLE: Readonly<Record<string, (file: string) => string>> = {
  ENOENT: (file) => `There is no file ${file}.`,
  EACCES: (file) => `The file ${file} cannot be read: this user has no permission.`,
  EISDIR: (file) => `${file} is a folder. Name a YAML file.`,
};

const secretsOf =
  (environment: NodeJS.ProcessEnv): SecretReader =>
  async (source) => {
    if ('from_env' in source) return environment[source.from_env] || null;
    const text = await readFile(source.from_file, 'utf8').catch(() => '');
    return text.trim() || null;
  };

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
          `${change.what} was not ${change.isNew ? 'created' : 'updated'}. ${(cause as Error).message} ` +
            `${done} of ${changes.length} changes were applied before it. Correct the cause and apply again.`,
          { cause },
        );
      });
    if (change.makesWorkspace !== undefined) ids.set(change.makesWorkspace, String(answer.id));
    notice(`${change.isNew ? 'created' : 'updated'}  ${change.what}`);
    if (typeof answer.invite_link === 'string') notice(invitationHint(String(answer.id)));
  }
}

/** The link is a secret, and this output may end up in logs. */
const invitationHint = (id: string): string =>
  `        No mail server is set. Send POST /v1/admin/users/invites/${id}/resend to get the link for the user.`;
