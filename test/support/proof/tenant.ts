import { Administration, APPLICATION_SCOPES } from '../administration.js';
import type { Service } from '../service.js';
import type { ScriptedProvider } from './scripted-provider.js';

/** One workspace of the proof, with two keys and two virtual keys that lead to two addresses of the provider. */
export interface Tenant {
  readonly id: string;
  readonly slug: string;
  readonly keys: readonly { readonly id: string; readonly key: string }[];
  readonly first: string;
  readonly second: string;
  /** Slugs of saved configs. */
  readonly fallback: string;
  readonly cache: string;
}

const SCOPES = [...APPLICATION_SCOPES, 'analytics.view', 'logs.list', 'logs.export', 'logs.write'];

export async function aTenant(service: Service, provider: ScriptedProvider, name: string): Promise<Tenant> {
  const administration = new Administration(service);
  const { id, slug } = (await administration.ask('POST', '/v1/admin/workspaces', { name })) as {
    id: string;
    slug: string;
  };
  const keys = await Promise.all(
    ['a', 'b'].map((each) => administration.createKey(`${name}-${each}`, SCOPES, { workspace_id: id })),
  );
  const virtualKey = (place: string): Promise<string> =>
    administration.createVirtualKey({
      name: `${name}-${place}`,
      secret: 'sk-of-the-proof',
      customHost: provider.address(place),
      workspaceId: id,
    });
  const [first, second] = [await virtualKey('first'), await virtualKey('second')];
  const config = async (what: string, document: object): Promise<string> => {
    const made = await administration.ask('POST', '/v1/configs', {
      name: `${name}-${what}`,
      workspace_id: id,
      config: document,
    });
    return made.data.slug as string;
  };
  const targets = [{ virtual_key: first }, { virtual_key: second }];
  return {
    id,
    slug,
    keys,
    first,
    second,
    fallback: await config('fallback', { strategy: { mode: 'fallback' }, targets }),
    cache: await config('cache', { cache: { mode: 'simple' }, virtual_key: first }),
  };
}
