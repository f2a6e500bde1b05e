import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdministrationApi } from '../../../src/admin/openapi/document.js';
import { exampleOfAnswer } from '../../../src/admin/openapi/examples.js';
import { AdminApp } from '../../support/admin-app.js';
import { Contract } from '../../support/contract.js';

interface BodyObject {
  readonly content?: Readonly<Record<string, { readonly example?: unknown; readonly schema?: object }>>;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary?: string;
  readonly description?: string;
  readonly 'x-scopes': readonly string[];
  readonly security?: readonly object[];
  readonly requestBody?: BodyObject;
  readonly responses: Readonly<Record<string, BodyObject & { readonly $ref?: string }>>;
}

/** The answers of all other tests of the administration are held against the document; this shows that it would be noticed. */
describe('the OpenAPI document', () => {
  let app: AdminApp;
  let contract: Contract;
  let document: ReturnType<typeof buildAdministrationApi>;

  beforeAll(async () => {
    app = await AdminApp.start();
    document = buildAdministrationApi(app.app);
    contract = new Contract(document);
  });
  afterAll(() => app.close());

  const me = async () => (await app.call('GET', '/v1/admin/me')).body as Record<string, unknown>;
  const mistakes = (status: number, body: unknown) =>
    contract.mistakes('GET', '/v1/admin/me?x=1', { status, body });

  it('is the format of responses', async () => {
    expect(mistakes(200, await me())).toEqual([]);
  });

  it('is broken by a field too many, one too few, one of another type, and a status it does not name', async () => {
    const { name, ...rest } = await me();

    expect(mistakes(200, { ...rest, name, secret: 1 })).toHaveLength(1);
    expect(mistakes(200, rest)).toHaveLength(1);
    expect(mistakes(200, { ...rest, name: 7 })).toHaveLength(1);
    expect(mistakes(418, rest)).toHaveLength(1);
  });

  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, OperationObject>).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        where: `${method} ${path}`,
        ...operation,
      })),
    );

  /** An answer that several operations give stands once in the document. */
  const answerOf = (response: OperationObject['responses'][string] | undefined): BodyObject | undefined => {
    const name = response?.$ref?.replace('#/components/responses/', '');
    return name === undefined ? response : (document.components?.responses?.[name] as BodyObject | undefined);
  };

  /** Those open to users who are signed in to the dashboard, whatever scopes they hold. */
  const isOfSession = ({ security }: OperationObject) =>
    JSON.stringify(security) === '[{"dashboard-session":[]}]';

  it('documents for every operation its purpose, its callers, and its refusals, each with an example', () => {
    const shared = document.components?.responses ?? {};
    expect(operations().length).toBeGreaterThan(100);
    for (const { where, operationId, summary, description, responses } of operations()) {
      expect(summary, where).toMatch(/\w/);
      expect(operationId, where).toMatch(/^[a-z][A-Za-z0-9]+$/);
      expect(description, where).toMatch(/Scope: `|every caller|Needs no API key|signed in to the dashboard/);
      const refusals = Object.entries(responses).filter(
        ([status]) => status === 'default' || Number(status) >= 400,
      );
      expect(refusals.length, where).toBeGreaterThan(0);
      for (const [status, { $ref = '' }] of refusals) {
        const refusal = shared[$ref.replace('#/components/responses/', '')];
        expect(JSON.stringify(refusal), `${where} ${status}`).toMatch(/"(?:example|value)":\{"error"/);
      }
    }
    const names = operations().map(({ operationId }) => operationId);
    expect(new Set(names).size).toBe(names.length);
  });

  it('documents a key where a guard requires one, and none elsewhere', () => {
    const open = operations().filter(({ description }) => description?.includes('Needs no API key'));
    expect(open.map(({ where }) => where)).toEqual([
      'post /v1/admin/invites/accept',
      'post /v1/auth/passkeys/sign-in',
      'post /v1/auth/set-up',
      'post /v1/auth/sign-in',
      'post /v1/auth/passkeys/request-options',
      'post /v1/auth/single-sign-on/back-channel-logout',
      'post /v1/auth/single-sign-on',
      'get /v1/auth/single-sign-on/callback/{provider}',
      'get /v1/auth/single-sign-on/start',
      'get /v1/model-configs/pricing/{provider}/{model}',
    ]);
    const rotation = operations().find(({ path }) => path === '/v2/api-keys/{id}/rotate');
    expect(rotation).toMatchObject({
      operationId: 'rotateApiKeyRotateV2',
      description: expect.stringContaining('Scope: `organisation_service_api_keys.rotate`'),
    });
  });

  it('names the scope of every operation but those that are open on purpose', () => {
    const withoutScope = operations().filter(
      (operation) => operation['x-scopes'].length === 0 && !isOfSession(operation),
    );
    expect(withoutScope.map(({ where }) => where).sort()).toEqual([
      'get /v1/admin/me',
      'get /v1/auth/single-sign-on/callback/{provider}',
      'get /v1/auth/single-sign-on/start',
      'get /v1/model-configs/pricing/{provider}/{model}',
      'get /v1/provider-catalog',
      'post /v1/admin/invites/accept',
      'post /v1/auth/passkeys/request-options',
      'post /v1/auth/passkeys/sign-in',
      'post /v1/auth/set-up',
      'post /v1/auth/sign-in',
      'post /v1/auth/single-sign-on',
      'post /v1/auth/single-sign-on/back-channel-logout',
    ]);
    const file = operations().find(({ path }) => path === '/v1/logs/exports/{id}/file');
    expect(file).toMatchObject({
      'x-scopes': ['logs.export'],
      description: expect.stringMatching(/signed link[^]*Scope: `logs.export`/),
    });
  });

  it('lets readers make an example of every response that is valid for it', () => {
    const wrong = operations().flatMap(({ method, path, where, responses }) => {
      const content = answerOf(responses['200'])?.content ?? {};
      const media = content['application/json'];
      const isToldElsewise = Object.keys(content).length > 0 || (!responses['200'] && '302' in responses);
      if (!media) return isToldElsewise ? [] : [`${where} does not say what it answers`];
      const body = exampleOfAnswer(document, media.schema as object);
      const gaps = JSON.stringify(body).includes('"…"') ? [`${where} has a text without an example`] : [];
      return [...gaps, ...contract.mistakes(method, path, { status: 200, body })];
    });
    expect(wrong).toEqual([]);
  });

  it('shows of every request an example that is accepted', async () => {
    const refused: string[] = [];
    for (const { method, path, where, requestBody } of operations()) {
      const media = requestBody?.content?.['application/json'];
      if (!media) continue;
      const body = media.example as object;
      const answer = await app.call(
        method,
        path.replace('{provider}', 'openai').replaceAll(/\{\w+\}/g, randomUUID()),
        { body },
      );
      if (answer.status === 400)
        refused.push(`${where} ${JSON.stringify(body)}: ${answer.body.error.message}`);
    }
    expect(refused).toEqual([]);
  });
});
