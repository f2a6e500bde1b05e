import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { SECRET_SETTINGS } from '../../src/common/settings/settings.js';
import { settingsSchema } from '../../src/common/settings/settings-schema.js';

interface Schema {
  readonly properties: {
    readonly settings: { readonly propertyNames: { readonly enum: readonly string[] } };
    readonly secrets: { readonly properties: Readonly<Record<string, unknown>> };
  };
}

const chart = join(import.meta.dirname, '../../deploy/helm/gatehouse');
const text = (path: string): string => readFileSync(join(chart, path), 'utf8');
const { properties } = JSON.parse(text('values.schema.json')) as Schema;

/** The chart sets these itself: from other values, or because a pod has no other choice. */
const SET_BY_THE_CHART = [
  'GATEHOUSE_PORT',
  'GATEHOUSE_DATA_DIR',
  'GATEHOUSE_ROLE',
  'GATEHOUSE_PROCESSES',
  'GATEHOUSE_ADMIN_SOCKET',
  'GATEHOUSE_EXPORT_DIR',
  'GATEHOUSE_PRICES_FILE',
  'GATEHOUSE_DRAIN_DELAY_MS',
  'GATEHOUSE_DRAIN_TIMEOUT_MS',
  'GATEHOUSE_DRAIN_SPOOL_MS',
];

describe('the Helm chart', () => {
  it('accepts every setting of the service that is no secret, and no other', () => {
    const elsewhere = new Set<string>([...SECRET_SETTINGS, ...SET_BY_THE_CHART]);
    const expected = Object.keys(settingsSchema.shape).filter((name) => !elsewhere.has(name));

    expect([...properties.settings.propertyNames.enum].sort()).toEqual(expected.sort());
  });

  it('takes every secret of the service by reference', () => {
    const [, table = ''] =
      /define "gatehouse.secretSettings" -}}\n([^{]*)/.exec(text('templates/_helpers.tpl')) ?? [];
    const settings = parse(table) as Readonly<Record<string, string>>;

    expect(Object.values(settings).sort()).toEqual([...SECRET_SETTINGS].sort());
    expect(Object.keys(properties.secrets.properties).sort()).toEqual(Object.keys(settings).sort());
  });

  it('installs the version of the service that it is released with', () => {
    const { version } = JSON.parse(readFileSync(join(chart, '../../../package.json'), 'utf8')) as {
      version: string;
    };

    expect(parse(text('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });
});
