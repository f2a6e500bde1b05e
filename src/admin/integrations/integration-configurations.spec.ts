import { describe, expect, it } from 'vitest';
import type { Egress } from '../../egress/egress.js';
import { CredentialsService } from '../credentials/credentials.service.js';
import { readConfigurations } from './integration-configurations.js';

/** Reading needs no store and no keys. */
const credentials = new CredentialsService(
  undefined as never,
  undefined as never,
  { checkDestination: () => undefined } as unknown as Egress,
  undefined as never,
);
const read = (provider: string, configurations: Record<string, unknown>) => () =>
  credentials.read(readConfigurations(provider, configurations), 'sk-test');

describe('configurations of an integration that are wrong', () => {
  it('are named as they were sent', () => {
    expect(read('openai', { custom_hots: 'https://a.example' })).toThrow(
      'The provider "openai" has no field "configurations.custom_hots".',
    );
    expect(read('bedrock', { aws_region: 'no region', aws_access_key_id: 'x' })).toThrow(
      'The field "configurations.aws_region" is invalid',
    );
    expect(read('vertex-ai', {})).toThrow('needs the field "configurations.vertex_project_id"');
  });
});
