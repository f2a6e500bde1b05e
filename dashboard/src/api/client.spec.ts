import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

const refusal = (status: number, code: string) => Response.json({ error: { code, message: '' } }, { status });

let answers: Response[];
let sent: Request[];
/** Removes a remedy that a test registered. */
let takeBack: (() => void) | null = null;
beforeEach(() => {
  sent = [];
  vi.stubGlobal('location', { origin: 'http://gatehouse.example' });
  vi.stubGlobal('fetch', (request: Request) => {
    sent.push(request);
    return Promise.resolve(answers.shift() ?? Response.json({ ok: true }));
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  takeBack?.();
  takeBack = null;
});

const load = () => import('./client');

describe('a request of the dashboard', () => {
  it('that is refused because its session got a new cookie meanwhile is repeated once, with its body', async () => {
    answers = [refusal(401, 'session_ended')];
    const { ask } = await load();

    expect(await ask('POST', '/v1/x', { a: 1 })).toEqual({ ok: true });
    expect(sent).toHaveLength(2);
    expect(await sent[1]?.json()).toEqual({ a: 1 });
    expect(sent[1]?.headers.get('x-gateway-csrf')).toBe('1');
  });

  it('whose session has ended for good is refused after the second attempt', async () => {
    answers = [refusal(401, 'session_ended'), refusal(401, 'session_ended')];
    const { ask } = await load();

    await expect(ask('GET', '/v1/x')).rejects.toMatchObject({ status: 401, code: 'session_ended' });
    expect(sent).toHaveLength(2);
  });

  it('that is refused for any other reason is not repeated', async () => {
    answers = [refusal(401, 'sign_in_failed')];
    const { ask } = await load();

    await expect(ask('POST', '/v1/x', {})).rejects.toMatchObject({ code: 'sign_in_failed' });
    expect(sent).toHaveLength(1);
  });

  it('that needs step-up verification is repeated once the user verifies; several requests share one prompt', async () => {
    answers = [refusal(403, 'step_up_required'), refusal(403, 'step_up_required')];
    const { ask, remedy } = await load();
    const prove = vi.fn(() => Promise.resolve(true));
    takeBack = remedy('step_up_required', prove);

    expect(await Promise.all([ask('POST', '/v1/x', {}), ask('POST', '/v1/y', {})])).toEqual([
      { ok: true },
      { ok: true },
    ]);
    expect(prove).toHaveBeenCalledTimes(1);
    expect(sent).toHaveLength(4);
  });

  it('that needs step-up verification stays refused when the user cancels', async () => {
    answers = [refusal(403, 'step_up_required')];
    const { ask, remedy } = await load();
    takeBack = remedy('step_up_required', () => Promise.resolve(false));

    await expect(ask('POST', '/v1/x', {})).rejects.toMatchObject({ code: 'step_up_required' });
    expect(sent).toHaveLength(1);
  });

  it('names the workspace where it must, and never to the session itself', async () => {
    answers = [];
    const { ask, nameWorkspace } = await load();
    nameWorkspace('ws-a');
    await ask('GET', '/v1/x');
    await ask('GET', '/v1/auth/session');

    expect(sent.map(({ headers }) => headers.get('x-gateway-workspace'))).toEqual(['ws-a', null]);
  });

  it('returns the seconds until the next attempt is accepted', async () => {
    answers = [new Response('{}', { status: 429, headers: { 'retry-after': '90' } })];
    const { ask } = await load();

    await expect(ask('POST', '/v1/x', {})).rejects.toMatchObject({ status: 429, retryAfter: 90 });
  });
});
