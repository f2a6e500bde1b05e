import { AppError } from '../../common/errors/app-error.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import {
  type AdministrationClient,
  type JsonRecord,
  AdministrationRefusal,
} from './administration-client.js';
import type { DeclaredChange } from './change.js';
import type { SecretSource, SectionName } from './document.js';
import type { DeclaredDocument, FileMistake, ReadDocument } from './read-document.js';

/** Reads a secret; null when it is missing. */
export type SecretReader = (source: SecretSource) => Promise<string | null>;

type MistakePath = FileMistake['path'];

/** The state of planning a file's changes: the current resources, the file, and the mistakes found. */
export class PlanningContext {
  readonly mistakes: FileMistake[] = [];
  readonly declared: DeclaredDocument;
  /** Ids of workspaces by their name in the file; null for those to be created. */
  private readonly named = new Map<string, string | null>();
  private listed: Promise<readonly JsonRecord[]> | undefined;

  constructor(
    readonly client: AdministrationClient,
    private readonly document: ReadDocument,
    readonly readSecret: SecretReader,
  ) {
    this.declared = document.declared;
  }

  note(path: MistakePath, message: string): void {
    this.mistakes.push({ path, message });
  }

  /** Notes violations of the administration's rules, which also run here. False when there is one. */
  judge(path: MistakePath, check: () => void): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.note(path, `is invalid: ${error.message.replace(/\.$/, '')}`);
      return false;
    }
  }

  /** Null when it does not exist. */
  async find(path: string): Promise<JsonRecord | null> {
    try {
      return await this.client.send('GET', path);
    } catch (error) {
      if (error instanceof AdministrationRefusal && error.status === 404) return null;
      throw error;
    }
  }

  /** All existing workspaces; fetched once. */
  workspaces(): Promise<readonly JsonRecord[]> {
    return (this.listed ??= this.client.all('/v1/admin/workspaces'));
  }

  nameWorkspace(name: string, id: string | null): void {
    this.named.set(name, id);
  }

  /** Whether the file has an entry of that slug. */
  declares(section: SectionName, slug: string): boolean {
    return this.document.names.slugs.get(section)?.has(slug) === true;
  }

  /** The secret; undefined, with a mistake noted, if it is unavailable. */
  async secretFrom(source: SecretSource, path: MistakePath): Promise<string | undefined> {
    const value = await this.readSecret(source);
    if (value !== null) return value;
    const from =
      'from_env' in source
        ? `the variable ${source.from_env} is not set`
        : `the file ${source.from_file} cannot be read`;
    this.note(path, `cannot be read: ${from}`);
    return undefined;
  }

  /**
   * Id of the workspace that a name, slug or id in the file refers to; null for one to be created. The file's own names take precedence.
   * Undefined, with a mistake noted, for none or several.
   */
  async idOf(workspace: string, path: MistakePath): Promise<string | null | undefined> {
    const times = this.document.names.workspaces.filter((name) => name === workspace).length;
    if (times === 1) return this.named.get(workspace);
    const id = isUuid(workspace) ? workspace.toLowerCase() : workspace;
    const known = await this.workspaces();
    const matches = known.filter((one) => one.slug === id || one.id === id);
    const named = known.filter(({ name }) => name === workspace);
    const [meant, ...others] = matches.length > 0 ? matches : named;
    if (meant && others.length === 0) return String(meant.id);
    this.note(
      path,
      meant || times > 1
        ? 'is the name of several workspaces; write the slug or the id'
        : `is not a workspace: neither the file nor the organization has "${workspace}"`,
    );
    return undefined;
  }

  /** An existing resource cannot move to another workspace. */
  async checkStays(current: JsonRecord, workspace: string, path: MistakePath): Promise<void> {
    const id = await this.idOf(workspace, path);
    if (id !== undefined && id !== current.workspace_id)
      this.note(path, 'is not its current workspace, and it cannot be moved');
  }

  async madeIn(workspace: string, path: MistakePath, change: DeclaredChange): Promise<DeclaredChange> {
    const id = await this.idOf(workspace, path);
    return {
      ...change,
      body: (idOf) => ({ ...change.body(idOf), workspace_id: id ?? idOf(workspace) }),
    };
  }
}
