import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

const SCRIPT = join(import.meta.dirname, '../../scripts/check-openapi.mjs');

/** A document without a mistake; tests break one place each. */
const sound = () => ({
  openapi: '3.0.0',
  tags: [{ name: 'Labels', description: 'Names for things.' }],
  paths: {
    '/v1/labels/{id}': {
      get: {
        summary: 'Read a label',
        description: 'Returns the label.',
        tags: ['Labels'],
        parameters: [{ name: 'id', in: 'path', description: 'Id of the label.' }],
        responses: {
          '200': {
            description: 'Done.',
            content: {
              'application/json': {
                schema: { $ref: '#/components/schemas/Label' },
                example: { name: 'team', colour: null } as object,
              },
            },
          },
        },
      },
    },
  },
  components: {
    schemas: {
      Label: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', description: 'Name for people.', example: 'team' as unknown },
          colour: { type: 'string', nullable: true, description: 'Colour, or null.' },
        },
      },
    },
    responses: {},
  },
});

type Document = ReturnType<typeof sound>;
const operationOf = ({ paths }: Document) => paths['/v1/labels/{id}'].get;

describe('the check of the OpenAPI document', () => {
  let folder: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'openapi-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  async function check(document: Document): Promise<{ status: number | null; stderr: string }> {
    const path = join(folder, 'openapi.json');
    await writeFile(path, JSON.stringify(document));
    const { status, stderr } = spawnSync(process.execPath, [SCRIPT, path], { encoding: 'utf8' });
    return { status, stderr };
  }

  it('passes a document that describes everything', async () => {
    expect(await check(sound())).toEqual({ status: 0, stderr: '' });
  });

  const MISTAKES: readonly (readonly [string, (document: Document) => void, string])[] = [
    [
      'a group',
      ({ tags }) => tags.forEach((tag) => (tag.description = '')),
      'The group "Labels" has no desc',
    ],
    ['an operation', (document) => (operationOf(document).description = 'Label.'), 'GET /v1/labels/{id} has'],
    [
      'a parameter',
      (document) => operationOf(document).parameters.forEach((each) => (each.description = '')),
      'the parameter "id" has no description',
    ],
    [
      'a field',
      ({ components }) => (components.schemas.Label.properties.colour.description = ''),
      'Label.colour has no description',
    ],
  ];

  it.each(MISTAKES)('names %s without a description', async (_, spoil, message) => {
    const document = sound();
    spoil(document);

    const { status, stderr } = await check(document);

    expect(status).toBe(1);
    expect(stderr).toContain(message);
  });

  it('names a summary that is not in the imperative', async () => {
    const document = sound();
    operationOf(document).summary = 'What a label is';

    expect((await check(document)).stderr).toContain('not in the imperative: "What a label is"');
  });

  it('names an example that its schema forbids, of a field and of a body', async () => {
    const document = sound();
    document.components.schemas.Label.properties.name.example = 7;
    operationOf(document).responses['200'].content['application/json'].example = { colour: 'red' };

    const { status, stderr } = await check(document);

    expect(status).toBe(1);
    expect(stderr).toContain('Label.name has an example that its schema forbids');
    expect(stderr).toContain("must have required property 'name'");
  });

  it('refuses a document of 900,000 bytes', async () => {
    const document = sound();
    operationOf(document).description = 'long text '.repeat(90_000);

    expect((await check(document)).stderr).toContain('It must stay below 900000.');
  });
});
