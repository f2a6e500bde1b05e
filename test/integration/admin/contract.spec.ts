import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildOpenApi } from '../../../src/admin/openapi.js';
import { AdminApp } from '../../support/admin-app.js';
import { Contract } from '../../support/contract.js';

interface OperationObject {
  readonly summary?: string;
  readonly description?: string;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The answers of all other tests of the administration are held against the document; this shows that it would be noticed. */
describe('the OpenAPI document', () => {
  let app: AdminApp;
  let contract: Contract;

  beforeAll(async () => {
    app = await AdminApp.start();
    contract = new Contract(buildOpenApi(app.app));
  });
  afterAll(() => app.close());

  const me = async () => (await app.call('GET', '/v1/admin/me')).body as Record<string, unknown>;
  const mistakes = (status: number, body: unknown) =>
    contract.mistakes('GET', '/v1/admin/me?x=1', { status, body });

  it('is what answers are', async () => {
    expect(mistakes(200, await me())).toEqual([]);
  });

  it('is broken by a field too many, one too few, one of another type, and a status it does not name', async () => {
    const { name, ...rest } = await me();

    expect(mistakes(200, { ...rest, name, secret: 1 })).toHaveLength(1);
    expect(mistakes(200, rest)).toHaveLength(1);
    expect(mistakes(200, { ...rest, name: 7 })).toHaveLength(1);
    expect(mistakes(418, rest)).toHaveLength(1);
  });

  it('names for every operation its scopes, a summary, and an example of each refusal', () => {
    const operations = Object.entries(buildOpenApi(app.app).paths).flatMap(([path, methods]) =>
      Object.entries(methods as Record<string, OperationObject>).map(([method, operation]) => ({
        where: `${method} ${path}`,
        ...operation,
      })),
    );
    expect(operations.length).toBeGreaterThan(10);
    for (const { where, summary, description, responses } of operations) {
      expect(summary, where).toMatch(/\w/);
      expect(description, where).toMatch(/Scope: `|every caller/);
      const refusals = Object.entries(responses).filter(([status]) => Number(status) >= 400);
      expect(refusals.length, where).toBeGreaterThan(5);
      for (const [status, refusal] of refusals)
        expect(JSON.stringify(refusal), `${where} ${status}`).toContain('"example":{"error"');
    }
  });
});
