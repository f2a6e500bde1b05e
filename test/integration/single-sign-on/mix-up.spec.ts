import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Browser } from '../../support/browser.js';
import { TestIdentityProvider } from '../../support/identity-provider.js';
import { CALLBACK, PROVIDERS, refusalIn, SIGN_IN, SignOnWorld } from '../../support/single-sign-on.js';

const TRIALS = '/v1/admin/organisation/sign-in-trials';

let world: SignOnWorld;
let partner: TestIdentityProvider;
let corporate = '';
let hostile = '';
beforeAll(async () => {
  world = await SignOnWorld.start();
  partner = await TestIdentityProvider.start({ redirectUri: CALLBACK });
  world.directory.omitIssuer();
  partner.omitIssuer();
  corporate = await world.aProvider({ create_users: true, domains: ['example.com'] });
  hostile = await world.aProvider({ name: 'Partner', domains: ['partner.test'] }, partner);
});
afterAll(async () => {
  await partner.stop();
  await world.close();
});

/** The hostile provider's redirect to the corporate one: it asks for a code with the secrets of the attacker's own sign-in. */
function redirectToCorporate(victimStart: URL, attackerStart: URL): URL {
  const address = new URL(attackerStart);
  address.searchParams.set('state', victimStart.searchParams.get('state') ?? '');
  return address;
}

describe('a code that another provider than the started one sends', () => {
  it('is refused before it leaves to a token endpoint, although neither provider sends its issuer', async () => {
    await world.aUser();
    const [attacker, victim] = [new Browser(world.app), new Browser(world.app)];
    const attackerStart = await world.start(attacker, corporate);
    const victimStart = await world.start(victim, hostile);
    partner.asked.length = 0;
    const answered = await world.directory.visit(redirectToCorporate(victimStart, attackerStart).href);
    answered.searchParams.delete('iss');
    const { headers } = await world.back(victim, answered);

    expect(partner.asked).not.toContain('POST /token');
    expect(refusalIn(String(headers['location']))).toBe('sso_response_invalid');
    expect(victim.cookies).toEqual({});
  });

  it('is refused by the corporate provider itself at the redirect URI of the other one', async () => {
    world.directory.registered = new Set([`${CALLBACK}/${corporate}`]);
    world.anAccount();
    const [attacker, victim] = [new Browser(world.app), new Browser(world.app)];
    const address = redirectToCorporate(
      await world.start(victim, hostile),
      await world.start(attacker, corporate),
    );
    address.searchParams.set('redirect_uri', `${CALLBACK}/${hostile}`);
    await expect(world.directory.visit(address.href)).rejects.toThrow('400');
    world.directory.registered = null;
  });

  it('does not leave through a trial whose reserved id is that of a provider', async () => {
    world.anAccount();
    const body = { ...partner.setting(), id: corporate };
    const trial = await world.app.call('POST', TRIALS, { body });
    expect(trial.status, trial.text).toBe(200);
    const attackerStart = await world.start(new Browser(world.app), corporate);
    partner.asked.length = 0;
    const started = new URL(trial.body.authorization_url as string);
    const answered = await world.directory.visit(redirectToCorporate(started, attackerStart).href);
    answered.searchParams.delete('iss');
    await world.back(new Browser(world.app), answered);

    expect(partner.asked).not.toContain('POST /token');
    const { result } = (await world.app.call('GET', `${TRIALS}/${trial.body.id}`)).body;
    expect(result.error.code).toBe('sso_state_invalid');
  });
});

describe('the redirect URI of a provider', () => {
  it('is its own in every response, and known before the provider is saved', async () => {
    const settings = (await world.app.call('GET', SIGN_IN)).body;
    const id = settings.reserved_identity_provider_id as string;
    const redirect_uri = `${CALLBACK}/${id}`;
    expect(settings.redirect_uri).toBe(redirect_uri);
    const body = { ...world.directory.setting(), id };
    const trial = await world.app.call('POST', TRIALS, { body });
    expect(trial.body).toMatchObject({ identity_provider_id: id, redirect_uri });
    const address = new URL(trial.body.authorization_url as string);
    expect(address.searchParams.get('redirect_uri')).toBe(redirect_uri);
    expect((await world.app.call('GET', `${TRIALS}/${trial.body.id}`)).body.redirect_uri).toBe(redirect_uri);

    const saved = await world.app.call('POST', PROVIDERS, { body });
    expect(saved.body).toMatchObject({ id, redirect_uri });
    const started = await world.start(new Browser(world.app), id);
    expect(started.searchParams.get('redirect_uri')).toBe(redirect_uri);
    expect((await world.app.call('POST', PROVIDERS, { body })).status, 'the same id again').toBe(409);
    expect((await world.app.call('PUT', `${PROVIDERS}/${id}`, { body: { id } })).status).toBe(400);
    const both = await world.app.call('POST', TRIALS, { body: { ...body, identity_provider_id: id } });
    expect(both.status).toBe(400);
  });
});
