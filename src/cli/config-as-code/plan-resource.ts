import { isDeepStrictEqual } from 'node:util';
import type { JsonRecord } from './administration-client.js';
import { type DeclaredChange, updated, specified, created } from './change.js';
import type { SecretSource } from './document.js';
import type { PlanningContext } from './planning.js';
import { entryOf, hasMask, resourcePath, type Resource, thingsOf } from './resources.js';

type ResourceEntry = JsonRecord & { readonly workspace?: string };

/** The requests that make a section's resources match the file. */
export async function planResource(planning: PlanningContext, resource: Resource): Promise<DeclaredChange[]> {
  const declared = planning.declared[resource.section] as readonly (ResourceEntry | undefined)[];
  if (declared.length === 0) return [];
  const things = await thingsOf(planning.client, resource);
  const changes: DeclaredChange[] = [];
  for (const [index, entry] of declared.entries())
    if (entry !== undefined)
      changes.push(...(await new PlannedEntry(planning, resource, index).plan(entry, things)));
  return changes;
}

class PlannedEntry {
  constructor(
    private readonly planning: PlanningContext,
    private readonly resource: Resource,
    private readonly index: number,
  ) {}

  async plan(entry: ResourceEntry, things: readonly JsonRecord[]): Promise<DeclaredChange[]> {
    const { resource } = this;
    const { workspace } = entry;
    const place = workspace === undefined ? null : await this.planning.idOf(workspace, this.at('workspace'));
    if (place === undefined) return [];
    const current = things.find((thing) => this.isMeant(thing, entry, place));
    const [shown = ''] = resource.identity;
    const what = `${resource.what} "${String(entry[shown])}"`;
    if (!current) return this.make(what, entry);
    const now = entryOf(resource, current);
    this.checkFixed(entry, now, (current.workspace_id ?? null) === place);
    const target = specified(Object.fromEntries(resource.changing.map((field) => [field, entry[field]])));
    return updated({ what, path: resourcePath(resource, current) }, now, target);
  }

  private checkFixed(entry: ResourceEntry, now: JsonRecord, isInPlace: boolean): void {
    for (const field of this.resource.fixed)
      if (field === 'workspace') {
        if (!isInPlace)
          this.planning.note(this.at(field), 'is not its current workspace, and it cannot be moved');
      } else if (entry[field] !== undefined && !isDeepStrictEqual(entry[field], now[field]))
        this.planning.note(this.at(field), 'cannot change: delete it, and apply the file again');
  }

  private at(field: string): readonly (string | number)[] {
    return [this.resource.section, this.index, field];
  }

  private isMeant(thing: JsonRecord, entry: ResourceEntry, place: string | null): boolean {
    return this.resource.identity.every((field) =>
      field === 'workspace' ? (thing.workspace_id ?? null) === place : thing[field] === entry[field],
    );
  }

  private async make(what: string, entry: ResourceEntry): Promise<DeclaredChange[]> {
    const { resource, planning } = this;
    const { names = {}, secret } = resource;
    const { workspace, ...fields } = entry;
    const source = secret && (entry[secret.field] as SecretSource | undefined);
    const value = source && (await planning.secretFrom(source, this.at(secret.field)));
    const shown = specified(
      Object.fromEntries(
        Object.entries(fields)
          .filter(([field]) => field !== secret?.field)
          .map(([field, content]) => [names[field] ?? field, content]),
      ),
    );
    for (const field of Object.keys(fields))
      if (hasMask(fields[field]))
        planning.note(this.at(field), 'has "***" in the place of a secret. Write the secret for a new entry');
    const { isPut, isShared } = resource;
    if (isPut) {
      const body = Object.fromEntries(resource.changing.map((field) => [field, fields[field]]));
      return [{ ...created(what, resourcePath(resource, entry), body), method: 'PUT' }];
    }
    const hidden = secret ? { [secret.field]: value } : {};
    const change = created(what, resource.path, shown, hidden);
    if (workspace !== undefined) {
      const inWorkspace = await planning.madeIn(workspace, this.at('workspace'), change);
      return [...(await this.accessFor(entry, workspace)), inWorkspace];
    }
    if (!isShared) return [change];
    const { id } = await planning.client.send('GET', '/v1/admin/organisation');
    return [{ ...change, body: (idOf) => ({ ...change.body(idOf), organisation_id: id }) }];
  }

  /** A provider requires its workspace's access to the integration. */
  private async accessFor(entry: ResourceEntry, workspace: string): Promise<DeclaredChange[]> {
    if (this.resource.section !== 'providers') return [];
    const slug = String(entry.integration);
    const id = await this.planning.idOf(workspace, this.at('workspace'));
    return [
      {
        what: `access of the workspace "${workspace}" to the integration "${slug}"`,
        isNew: false,
        differences: [],
        method: 'PUT',
        path: `/v1/integrations/${encodeURIComponent(slug)}/workspaces`,
        body: (idOf) => ({
          workspaces: [{ id: id ?? idOf(workspace), enabled: true }],
          create_default_provider: false,
        }),
      },
    ];
  }
}
