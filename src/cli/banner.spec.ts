import { describe, expect, it } from 'vitest';
import { banner, sandboxRequest } from './banner.js';

const made = {
  organisation_id: 'o',
  workspace_id: 'w',
  workspace_slug: 's',
  admin_api_key: 'gw_admin_A',
  workspace_api_key: 'gw_ws_W',
  base_url: 'http://127.0.0.1:8787',
  setup_url: 'http://127.0.0.1:8787/ui/set-up#gw_setup_hush',
};
const launched = {
  baseUrl: 'http://127.0.0.1:8787',
  bootstrapPath: '/data/bootstrap.json',
  made,
  keysKept: true,
  showsKeys: true,
};

describe('banner', () => {
  it('shows on the first start the address, both keys, where they are kept, and a request that can be pasted', () => {
    const text = banner(launched);

    for (const part of ['http://127.0.0.1:8787', 'gw_admin_A', 'gw_ws_W', '/data/bootstrap.json'])
      expect(text).toContain(part);
    expect(text.split('\n')).toContain(sandboxRequest('http://127.0.0.1:8787', 'gw_ws_W'));
  });

  it('shows the set-up link on the first start, unless the settings made the owner', () => {
    expect(banner(launched)).toContain(made.setup_url);
    expect(banner({ ...launched, made: { ...made, setup_url: null } })).not.toMatch(/set-up|dashboard/);
  });

  it('shows no key and no link on a later start', () => {
    const later = banner({ ...launched, made: null });
    expect(later).not.toMatch(/gw_|set-up/);
    expect(later).toContain('The first keys are in /data/bootstrap.json');
  });

  it('shows no key and no link outside a terminal, but where they are', () => {
    const piped = banner({ ...launched, showsKeys: false });
    expect(piped).not.toMatch(/gw_|set-up/);
    expect(piped).toContain('The first keys are in /data/bootstrap.json');
  });

  it('does not promise a file that was moved', () => {
    expect(banner({ ...launched, made: null, keysKept: false })).not.toContain('bootstrap.json');
  });
});

describe('sandboxRequest', () => {
  it('is one shell command that sends a chat completion to the sandbox', () => {
    expect(sandboxRequest('http://127.0.0.1:8787', 'gw_ws_W')).toBe(
      `curl http://127.0.0.1:8787/v1/chat/completions -H "x-gateway-api-key: gw_ws_W" -H "x-gateway-provider: sandbox" -H "content-type: application/json" -d '{"model":"sandbox-1","messages":[{"role":"user","content":"Hello"}]}'`,
    );
  });
});
